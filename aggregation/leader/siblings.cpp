// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/siblings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/file.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/container/container_reader.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/file_of_rank.hpp"

namespace mcr::aggregation {

namespace {
/// Distances to the ranks whose files are looked for: neighbours, then ranks that are probably on
/// other nodes.
constexpr std::uint32_t steps[] = {1, 2, 3, 4, 8, 16, 32, 64, 128, 256};

/// True if the container's set has its files in the same directory as `masked_name`. With container_dir=../NAME,
/// the names of containers do not show it. A container that cannot be read counts by its name.
bool is_of_same_directory(const restart::File& home, const std::string& name,
                          const std::string& masked_name, std::string_view container_dir) {
  const auto container = restart::ContainerReader::open(home.descriptor(), name);
  return !container ||
         restart::name_beside_containers((*container)->set().masked_name, container_dir) ==
             restart::name_beside_containers(masked_name, container_dir);
}

/// True if the launch has containers under that name. If `of_its_set`, only containers of the
/// part's own sequence count.
bool has_containers(const restart::PartBegin& begin, const std::string& masked_name,
                    bool of_its_set) {
  const restart::Settings settings = settings_of(begin);
  const std::string_view container_dir = settings.text("container_dir");
  const auto where =
      restart::container_name(masked_name, container_dir, begin.launch, begin.sequence);
  const std::size_t sequence_bytes = std::to_string(begin.sequence).size() + 1;  // with its dot
  const std::string prefix =
      of_its_set ? where.prefix : where.prefix.substr(0, where.prefix.size() - sequence_bytes);
  const auto home = restart::File::open(AT_FDCWD, where.directory, O_RDONLY | O_DIRECTORY);
  if (!home) return false;
  bool found = false;
  const auto listed = restart::for_each_name(home->descriptor(), ".", [&](const std::string& name) {
    struct stat status {};
    found = name.starts_with(prefix) &&
            restart::system_calls().fstatat(home->descriptor(), name.c_str(), &status,
                                            AT_SYMLINK_NOFOLLOW) == 0 &&
            restart::is_believed_in(*home, status, ::geteuid()) &&
            (where.prefix == where.distinct_prefix ||
             is_of_same_directory(*home, name, masked_name, container_dir));
    return !found;
  });
  return listed && found;
}

std::optional<std::size_t> name_with_containers(const restart::PartBegin& begin, bool of_its_set) {
  for (std::size_t i = 0; i < begin.masked_names.size(); ++i) {
    // The container of an earlier writing of a single file does not prove that other ranks write
    // files.
    if (!of_its_set && restart::is_of_one_file(begin.masked_names[i])) continue;
    if (has_containers(begin, begin.masked_names[i], of_its_set)) return i;
  }
  return std::nullopt;
}

/// Returns the ranks whose files are looked for.
std::set<std::uint32_t> neighbours(const restart::PartBegin& begin) {
  std::set<std::uint32_t> others;
  for (const std::uint32_t step : steps) {
    if (step >= begin.rank_count) break;
    others.insert((begin.rank + step) % begin.rank_count);
    others.insert((begin.rank + begin.rank_count - step) % begin.rank_count);
  }
  return others;
}

enum class AtSibling : std::uint8_t { nothing, old_file, native_file, stub_of_its_rank };

class Look {
 public:
  Look(const restart::PartBegin& begin, const NativeWriters& natives)
      : begin_(begin), natives_(natives) {}

  /// Native files prove that each rank has its own file only if the highest rank has one. If there
  /// are fewer files than ranks, their numbers are low.
  [[nodiscard]] Siblings beside(const std::string& path,
                                const std::vector<std::string>& masked_names) const {
    Siblings possible;
    const std::uint32_t last = begin_.rank_count - 1;
    for (std::size_t i = 0; i < masked_names.size(); ++i) {
      AtSibling best = AtSibling::nothing;
      for (const std::uint32_t other : neighbours(begin_))
        best = std::max(best, look_for(path, masked_names[i], other));
      if (best == AtSibling::stub_of_its_rank) return {i, true};
      if (best == AtSibling::nothing) continue;
      const bool has_last =
          begin_.rank == last || look_for(path, masked_names[i], last) >= AtSibling::native_file;
      if (best == AtSibling::native_file && has_last) return {i, true};
      if (!possible.name) possible = {i, false};
    }
    return possible;
  }

 private:
  [[nodiscard]] AtSibling look_for(const std::string& path, const std::string& masked_name,
                                   std::uint32_t other) const {
    AtSibling best = AtSibling::nothing;
    for (const std::string& sibling : restart::sibling_paths(path, masked_name, begin_.rank, other))
      best = std::max(best, look_at(sibling, restart::shared_directory(masked_name), other));
    return best;
  }

  /// A file is not a sibling if another rank has written it than the one whose number is in its
  /// path: that number is not the rank.
  [[nodiscard]] AtSibling look_at(const std::string& path, const std::string& base,
                                  std::uint32_t rank) const {
    // Another user's file does not count.
    const auto there = restart::file_of_rank(path, base, ::geteuid());
    if (!S_ISREG(there.status.st_mode)) return AtSibling::nothing;
    if (there.is_stub())
      return there.stub.rank == rank ? AtSibling::stub_of_its_rank : AtSibling::nothing;
    if (const auto writer = natives_.find(path); writer != natives_.end() && writer->second != rank)
      return AtSibling::nothing;
    // The clock of the storage may differ from ours.
    constexpr std::uint64_t clock_slack_s = 60;
    const auto modified_s = static_cast<std::uint64_t>(there.status.st_mtim.tv_sec);
    const bool is_old = modified_s + clock_slack_s < begin_.begin_ns / 1'000'000'000;
    return is_old ? AtSibling::old_file : AtSibling::native_file;
  }

  const restart::PartBegin& begin_;
  const NativeWriters& natives_;
};
}  // namespace

Siblings find_siblings(const restart::PartBegin& begin, const StubHandles& stubs,
                       const NativeWriters& natives) {
  if (begin.rank_count < 2) return {};
  if (const auto own = name_with_containers(begin, true)) return {own, true};
  const Look look(begin, natives);
  const Siblings beside = look.beside(begin.path, begin.masked_names);
  if (beside.is_certain) return beside;
  // If the program renames finished files, no files of other ranks have the old names.
  const StubHandles::Found now = stubs.find(begin.part);
  if (now.fate == StubHandles::Fate::present && now.path != begin.path) {
    const auto names = restart::masked_names(now.path, begin.rank, begin.rank_count);
    const Siblings moved = look.beside(now.path, names);
    if (moved.name)
      return {*moved.name < begin.masked_names.size() ? *moved.name : 0, moved.is_certain};
  }
  // Containers of another leader prove that other ranks had files. If this leader knows the file as
  // lone, the containers may be its own: it also makes containers for lone files whose stubs were
  // read.
  const auto writer = natives.find(begin.path);
  const bool is_lone = writer != natives.end() && writer->second == begin.rank;
  if (is_lone) return beside;
  if (const auto known = name_with_containers(begin, false)) return {known, true};
  return beside;
}

}  // namespace mcr::aggregation
