// SPDX-License-Identifier: BSD-3-Clause
// Names of what lies in a launch's directory, and the small steps that the stage's files share.
// For the sources of the stage, and for container/shared_frames, which keeps its files there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "restart/base/lock.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart::stage_files {

inline constexpr const char* ranks_directory = "ranks";
inline constexpr const char* parts_directory = "parts";
inline constexpr const char* pool_directory = "pool";
inline constexpr const char* native_directory = "native";
inline constexpr const char* frames_directory = "frames";
inline constexpr const char* lock_name = "lock";
inline constexpr const char* start_name = "starting";
inline constexpr const char* report_name = "reported";
inline constexpr const char* notice_name = "notice";
inline constexpr const char* clock_name = "clock";
inline constexpr const char* mark_name = "made";
/// In the order in which they are made; ranks/ comes last, so that who can join finds all the
/// others.
inline constexpr const char* subdirectories[] = {"open",           "published",    "committed",
                                                 parts_directory,  pool_directory, native_directory,
                                                 frames_directory, ranks_directory};

/// Races with somebody who looks at a lock for a moment resolve in one more turn; more of them mean
/// that something else is wrong.
inline constexpr int turns = 8;
void pause_briefly();
/// False where somebody else holds the lock in each of so many turns.
Result<bool> lock_in_turns(const File& file, LockKind kind, int most_turns);

/// Of the launch's directory in the stage.
std::string launch_directory_name(const std::string& node, const std::string& launch);
const char* state_name(LaunchDirectory::State state);
std::string journal_path(LaunchDirectory::State state, const PartId& part);
/// Of a name in open/, published/ or committed/.
std::optional<PartId> part_of_journal(std::string_view name);
/// Names that a launch makes: in its directory, and in one of its subdirectories.
bool is_file_of_launch(std::string_view name);
bool is_name_in(std::string_view subdirectory, std::string_view name);

std::string bytes_path(const PartId& part);
std::string pool_path(std::uint32_t rank, unsigned slot);

/// The stage itself, made where it is missing, and checked.
Result<File> open_stage(const std::string& stage);
/// This user's, and closed to everybody else.
Result<void> check_private(const File& directory, const std::string& name);
Result<void> make_directory(int parent, const std::string& name);
/// No link is followed.
Result<File> open_directory(int parent, const std::string& name);

Result<void> unlink_if_there(int directory, const std::string& name);
bool exists(int directory, const std::string& name);

}  // namespace mcr::restart::stage_files
