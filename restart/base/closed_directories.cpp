// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/closed_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <vector>

#include "restart/base/access_list.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_levels = 256;

struct Level {
  struct stat status {};
  Bytes list;  ///< empty: no access list

  [[nodiscard]] bool has_list() const { return !list.empty(); }
};

/// Returns the directories from `directory` up to `base`; nothing if `base` is not above
/// `directory`.
std::optional<std::vector<Level>> levels_up_to(const File& directory, FileIdentity base) {
  std::vector<Level> levels;
  auto at = File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY);
  while (at && levels.size() < most_levels) {
    const auto status = at->status();
    if (!status) return std::nullopt;
    const bool is_root =
        !levels.empty() && FileIdentity(levels.back().status) == FileIdentity(*status);
    if (is_root && FileIdentity(*status) != base) return std::nullopt;
    levels.push_back({*status, access_list_of(*at)});
    if (FileIdentity(*status) == base) return levels;
    at = File::open(at->descriptor(), "..", O_PATH | O_DIRECTORY);
  }
  return std::nullopt;
}

}  // namespace

Result<File> open_directory_of(const std::string& path, FileIdentity file) {
  File directory = MCR_TRY(File::open(AT_FDCWD, parent_of(path), O_PATH | O_DIRECTORY));
  if (leads_to(directory.descriptor(), name_of(path), file)) return directory;
  errno = ESTALE;
  return system_error("another process replaced the file", path);
}

Access closed_by_directories(Access access, const File& directory, FileIdentity base) {
  const auto levels = levels_up_to(directory, base);
  if (!levels) {
    access.mode &= 0700;
    access.list.clear();
    return access;
  }
  for (const Level& level : std::span(*levels).first(levels->size() - 1)) {
    if (level.has_list() &&
        lets_all_list(level.status, level.list, access.mode, access.group, access.list))
      continue;
    // A mode cannot express rights of single users, so such a directory lets neither group nor others through.
    const auto lets = [&](mode_t bits) { return (level.status.st_mode & bits) == bits; };
    const bool lets_its_group = !level.has_list() && lets(S_IRGRP | S_IXGRP);
    const bool lets_group = lets_its_group && level.status.st_gid == access.group;
    const bool lets_others = lets_its_group && lets(S_IROTH | S_IXOTH);
    if (lets_others) continue;
    // Users whom the file's access list names may count as others here, so the list is dropped.
    access = without_list(access);
    access.mode &= lets_group ? ~mode_t{07} : ~mode_t{077};
  }
  return access;
}

KeptOut KeptOut::all() { return {S_IWGRP | S_IWOTH, true, true}; }

KeptOut operator|(KeptOut one, KeptOut other) {
  return {one.writers | other.writers, one.removers || other.removers, one.owner || other.owner};
}

KeptOut kept_out(const File& directory, const struct stat& base) {
  const auto levels = levels_up_to(directory, FileIdentity(base));
  if (!levels) return KeptOut::all();
  const bool has_list = levels->back().has_list();
  const mode_t writers = base.st_mode & (S_IWGRP | S_IWOTH);
  KeptOut kept;
  for (const Level& level : std::span(*levels).first(levels->size() - 1)) {
    // Access lists are not compared: a directory with a list counts as keeping all writers out.
    const bool is_compared = !has_list && !level.has_list();
    const bool is_same_group = level.status.st_gid == base.st_gid;
    const mode_t lets = is_compared ? level.status.st_mode & (S_IWGRP | S_IWOTH) : 0;
    const mode_t lets_write = is_same_group ? lets : lets & ~mode_t{S_IWGRP};
    kept.writers |= writers & ~lets_write;
    kept.owner |= base.st_uid != 0 && level.status.st_uid != base.st_uid && lets_write == 0;
    kept.removers |= !is_compared || others_may_only_add(level.status);
  }
  return kept;
}

bool others_may_move(const std::string& directory) {
  const auto is_ours = [](const struct stat& status) {
    return is_believed(status.st_uid, ::geteuid());
  };
  auto at = File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
  for (std::size_t level = 0; at && level < most_levels; ++level) {
    const auto status = at->status();
    auto above = File::open(at->descriptor(), "..", O_PATH | O_DIRECTORY);
    const auto outer = above ? above->status() : Result<struct stat>(above.error());
    if (!status || !outer) return true;
    if (FileIdentity(*status) == FileIdentity(*outer)) return false;
    const bool is_written = others_may_write(*status) || !is_ours(*status);
    const bool is_renamed =
        !is_ours(*outer) || (others_may_write(*outer) && (outer->st_mode & S_ISVTX) == 0);
    if (is_written && is_renamed) return true;
    at = std::move(above);
  }
  return true;
}

std::vector<FileIdentity> directories_above(const File& directory, std::size_t most) {
  std::vector<FileIdentity> above;
  std::string path = "..";
  while (above.size() < most) {
    struct stat status {};
    if (system_calls().fstatat(directory.descriptor(), path.c_str(), &status, 0) != 0) break;
    const FileIdentity identity(status);
    if (!above.empty() && above.back() == identity) break;  // the root
    above.push_back(identity);
    if (!is_own_or_projects(status)) break;
    path += "/..";
  }
  return above;
}

bool is_at_or_above(FileIdentity base, const File& directory) {
  return levels_up_to(directory, base).has_value();
}

Result<FileIdentity> deepest_above(const File& one, const File& other) {
  File at = MCR_TRY(File::open(other.descriptor(), ".", O_PATH | O_DIRECTORY));
  for (std::size_t level = 0; level < most_levels; ++level) {
    const FileIdentity identity(MCR_TRY(at.status()));
    if (is_at_or_above(identity, one)) return identity;
    at = MCR_TRY(File::open(at.descriptor(), "..", O_PATH | O_DIRECTORY));
  }
  errno = ELOOP;
  return system_error("too many directories above", other.name());
}

}  // namespace mcr::restart
