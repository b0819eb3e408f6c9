// SPDX-License-Identifier: BSD-3-Clause
// Names of the files in a launch's directory, and small functions that the sources of the stage
// share. container/shared_frames, which keeps its files there, uses them too.
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
inline constexpr const char* refused_directory = "refused";
inline constexpr const char* lock_name = "lock";
inline constexpr const char* start_name = "starting";
inline constexpr const char* report_name = "reported";
inline constexpr const char* notice_name = "notice";
inline constexpr const char* clock_name = "clock";
inline constexpr const char* mark_name = "made";
/// In the order in which they are made. ranks/ comes last: a process that can join finds all other
/// subdirectories.
inline constexpr const char* subdirectories[] = {
    "open",           "published",      "committed",       parts_directory, pool_directory,
    native_directory, frames_directory, refused_directory, ranks_directory};

/// A process that tests a lock holds the lock for a moment, so a failed try is repeated. A lock
/// that stays held in this many turns is really held.
inline constexpr int turns = 8;
void pause_briefly();
/// Takes the lock; false if it was held by another process in each of `most_turns` turns.
Result<bool> lock_in_turns(const File& file, LockKind kind, int most_turns);

/// Returns the name of the launch's directory in the stage.
std::string launch_directory_name(const std::string& node, const std::string& launch);
const char* state_name(LaunchDirectory::State state);
std::string journal_path(LaunchDirectory::State state, const PartId& part);
/// Returns the part whose journal has that name in open/, published/ or committed/.
std::optional<PartId> part_of_journal(std::string_view name);
/// True for a name that a launch makes in its directory, or (is_name_in) in one of its
/// subdirectories.
bool is_file_of_launch(std::string_view name);
bool is_name_in(std::string_view subdirectory, std::string_view name);

std::string bytes_path(const PartId& part);
std::string pool_path(std::uint32_t rank, unsigned slot);

/// Opens and checks the stage, and makes it if it is missing.
Result<File> open_stage(const std::string& stage);
/// Refuses a directory that is not this user's or not closed to other users.
Result<void> check_private(const File& directory, const std::string& name);
/// As check_private(), for the stage itself. Also refuses it if other users may put another directory in its place, in which
/// links would lead anywhere.
Result<void> check_stage(const File& directory, const std::string& name);
/// An error names `path`.
Result<void> make_directory(int parent, const std::string& name, const std::string& path);
/// Opens a directory; a link as the last component is not followed.
Result<File> open_directory(int parent, const std::string& name);

Result<void> unlink_if_there(int directory, const std::string& name);
bool exists(int directory, const std::string& name);

}  // namespace mcr::restart::stage_files
