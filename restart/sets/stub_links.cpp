// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/stub_links.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "restart/base/birth_time.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view links_directory_name = "set-stubs";

/// Parses ".<user>", the end of the name of a further user's directory.
std::optional<uid_t> user_in(std::string_view ending) {
  if (!ending.starts_with('.')) return std::nullopt;
  uid_t user = 0;
  const auto [end, problem] =
      std::from_chars(ending.data() + 1, ending.data() + ending.size(), user);
  if (problem != std::errc() || end != ending.data() + ending.size()) return std::nullopt;
  return user;
}

/// The directories in which links of this user may lie.
std::array<std::string, 2> links_directory_names(uid_t user) {
  const std::string first(links_directory_name);
  return {first, first + "." + std::to_string(user)};
}

std::string name_of_link(const PartId& part, ino_t inode) {
  std::array<char, 17> text{};
  const auto [end, problem] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<std::uint64_t>(inode), 16);
  return part.text() + "." + std::string(text.data(), end);
}

struct LinkName {
  PartId part;
  ino_t inode = 0;
};
std::optional<LinkName> parse_link_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto part = PartId::parse(name.substr(0, dot));
  const std::string_view digits = name.substr(dot + 1);
  std::uint64_t inode = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), inode, 16);
  if (!part || problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return LinkName{*part, static_cast<ino_t>(inode)};
}

bool is_same(const struct stat& a, const struct stat& b) {
  return FileIdentity(a) == FileIdentity(b);
}

/// Opens this directory of links, makes it if it is missing, and closes it to all other users. EPERM or EACCES: it
/// belongs to another user, or others may write to it.
Result<File> make_closed_links_directory(const File& containers, const std::string& name) {
  File home = MCR_TRY(make_closed_in_own_containers(containers, name));
  const struct stat status = MCR_TRY(home.status());
  const std::string path = containers.name() + "/" + name;
  if (!is_ours_alone(status)) {
    return Error{Cause::system,
                 path + " belongs to " + user_text(status.st_uid) + ", or others may write to it",
                 EPERM};
  }
  constexpr mode_t others = S_IRWXG | S_IRWXO;
  if ((status.st_mode & others) != 0 &&
      system_calls().fchmod(home.descriptor(), status.st_mode & 07777 & ~others) != 0)
    return system_error("cannot close", path);
  return home;
}

Result<File> open_links_directory(const File& containers) {
  const auto names = links_directory_names(::geteuid());
  const auto is_taken = [](const Result<File>& made) {
    const int problem = made ? 0 : made.error().system_error;
    return problem == EPERM || problem == EACCES || problem == ENOTDIR || problem == ELOOP;
  };
  auto directory = make_closed_links_directory(containers, names.front());
  if (is_taken(directory)) directory = make_closed_links_directory(containers, names.back());
  if (!is_taken(directory)) return directory;
  return Error{Cause::system, directory.error().message, EPERM};
}

/// ESTALE: the file does not lie below the directory of `containers` any more.
Result<void> expect_below(const File& containers, const File& stub, const std::string& path) {
  const File directory = MCR_TRY(open_directory_of(path, FileIdentity(MCR_TRY(stub.status()))));
  const File outer = MCR_TRY(File::open(containers.descriptor(), "..", O_PATH | O_DIRECTORY));
  if (is_at_or_above(FileIdentity(MCR_TRY(outer.status())), directory)) return {};
  errno = ESTALE;  // another directory has come to the path of `containers`
  return system_error("the file is no longer below the directory", containers.name());
}

/// Links through the descriptor, which leads to the stub even after the program has moved it. Links
/// by the path only if there is no /proc.
bool try_link(const File& stub, const std::string& path, const File& directory,
              const std::string& link) {
  const std::string open = link_path(stub.descriptor());
  if (system_calls().linkat(AT_FDCWD, open.c_str(), directory.descriptor(), link.c_str(),
                            AT_SYMLINK_FOLLOW) == 0)
    return true;
  const int number = errno;
  struct stat proc {};
  if (number == ENOENT && system_calls().fstatat(AT_FDCWD, "/proc/self/fd", &proc, 0) != 0)
    return system_calls().linkat(AT_FDCWD, path.c_str(), directory.descriptor(), link.c_str(), 0) ==
           0;
  errno = number;
  return false;
}

}  // namespace

bool is_links_directory_name(std::string_view name) {
  if (!name.starts_with(links_directory_name)) return false;
  name.remove_prefix(links_directory_name.size());
  return name.empty() || user_in(name).has_value();
}

bool is_link_to_stub(const std::string& path) {
  return is_links_directory_name(name_of(parent_of(path)));
}

Result<void> link_stub(const std::string& containers, const PartId& part, const File& stub,
                       const std::string& path) {
  return link_stub(MCR_TRY(make_own_containers(containers)), part, stub, path);
}

Result<void> link_stub(const File& containers, const PartId& part, const File& stub,
                       const std::string& path) {
  const struct stat status = MCR_TRY(stub.status());
  const File directory = MCR_TRY(open_links_directory(containers));
  MCR_TRY(expect_below(containers, stub, path));
  const std::string link = name_of_link(part, status.st_ino);
  if (!try_link(stub, path, directory, link)) {
    if (errno == EEXIST) return {};
    if (errno == EPERM) errno = EOPNOTSUPP;  // here EPERM means a file system without hard links
    return system_error("cannot make the hard link",
                        containers.name() + "/" + directory.name() + "/" + link);
  }
  struct stat linked {};
  if (system_calls().fstatat(directory.descriptor(), link.c_str(), &linked, AT_SYMLINK_NOFOLLOW) ==
          0 &&
      is_same(linked, status)) {
    return {};
  }
  // Another file has the path by now: remove the link to that file.
  (void)system_calls().unlinkat(directory.descriptor(), link.c_str(), 0);
  return Error{Cause::system, path + " was replaced by another file", ESTALE};
}

std::optional<std::string> our_link_to(const Stub& stub, const std::string& path,
                                       const struct stat& status) {
  if (status.st_nlink > 2) return std::nullopt;
  for (const ContainerPlace& place : container_places(stub, path, "none")) {
    for (const std::string& name : links_directory_names(status.st_uid)) {
      std::string link =
          place.directory + "/" + name + "/" + name_of_link(stub.part, status.st_ino);
      struct stat there {};
      if (system_calls().fstatat(AT_FDCWD, link.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
          is_same(there, status)) {
        return link;
      }
    }
  }
  return std::nullopt;
}

nlink_t names_of_program(const Stub& stub, const std::string& path, const struct stat& status) {
  const bool has_our_link = status.st_nlink != 0 && our_link_to(stub, path, status);
  return status.st_nlink - (has_our_link ? 1 : 0);
}

void unlink_stub(const std::string& containers, const PartId& part, const struct stat& status) {
  if (const auto home = File::open(AT_FDCWD, containers, O_PATH | O_DIRECTORY))
    unlink_stub(*home, part, status);
}

void unlink_stub(const File& containers, const PartId& part, const struct stat& status) {
  const std::string link = name_of_link(part, status.st_ino);
  for (const std::string& name : links_directory_names(status.st_uid)) {
    const auto directory = open_beneath(containers.descriptor(), name, O_PATH | O_DIRECTORY);
    struct stat there {};
    if (directory &&
        system_calls().fstatat(directory->descriptor(), link.c_str(), &there,
                               AT_SYMLINK_NOFOLLOW) == 0 &&
        is_same(there, status))
      (void)system_calls().unlinkat(directory->descriptor(), link.c_str(), 0);
  }
}

void remove_empty_links_directories(const File& containers) {
  for (const std::string& name : links_directory_names(::geteuid()))
    (void)system_calls().unlinkat(containers.descriptor(), name.c_str(), AT_REMOVEDIR);
}

Result<StubLinks> StubLinks::list(const std::string& containers) {
  const auto home = File::open(AT_FDCWD, containers, O_PATH | O_DIRECTORY);
  if (home) return list(*home);
  if (home.error().system_error == ENOENT) return StubLinks();
  return home.error();
}

Result<StubLinks> StubLinks::list(const File& containers) {
  StubLinks links;
  for (const std::string& name : MCR_TRY(list_directory(containers.descriptor(), "."))) {
    struct stat status {};
    if (!is_links_directory_name(name) ||
        system_calls().fstatat(containers.descriptor(), name.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISDIR(status.st_mode))
      continue;
    const auto user = user_in(std::string_view(name).substr(links_directory_name.size()));
    if (user && *user != status.st_uid) continue;  // another user has made it
    auto directory = open_beneath(containers.descriptor(), name, O_RDONLY | O_DIRECTORY);
    if (!directory) {
      const int problem = directory.error().system_error;
      if (problem == EACCES) links.hidden_.insert(status.st_uid);
      if (problem != EACCES && problem != ENOENT && problem != ENOTDIR && problem != ELOOP)
        return directory.error();
      continue;
    }
    for (std::string& link : MCR_TRY(list_directory(directory->descriptor(), "."))) {
      if (const auto parsed = parse_link_name(link))
        links.links_.emplace(parsed->part, Link{links.directories_.size(), std::move(link)});
    }
    const Beside beside = MCR_TRY(Beside::of(containers, *directory));
    links.directories_.push_back({std::move(*directory), beside});
  }
  return links;
}

std::optional<struct stat> StubLinks::status_of(const Link& link) const {
  struct stat status {};
  if (system_calls().fstatat(directories_[link.directory].file.descriptor(), link.name.c_str(),
                             &status, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return status;
}

StubLinks::Fate StubLinks::fate(const PartId& part, uid_t owner, std::uint64_t written_ns) const {
  if (hidden_.contains(owner)) return Fate::in_use;
  Fate fate = Fate::unknown;
  const auto [begin, end] = links_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    const Link& link = entry->second;
    const LinksDirectory& directory = directories_[link.directory];
    if (!directory.beside.adders_may_remove(owner)) continue;
    const auto status = status_of(link);
    if (!status) return Fate::unknown;
    // A link made by another user says nothing about this user's stub.
    if (status->st_uid != owner) continue;
    if (!S_ISREG(status->st_mode) || parse_link_name(link.name)->inode != status->st_ino) continue;
    if (status->st_nlink != 1) return Fate::in_use;
    const auto there = file_at(directory.file.descriptor(), link.name, Links::not_followed);
    if (there.is_stub_of(part) && is_same(there.status, *status) &&
        !was_made_after(there.file, written_ns))
      fate = Fate::given_up;
  }
  return fate;
}

std::uint64_t StubLinks::changed_ns(const PartId& part) const {
  std::uint64_t newest = 0;
  const auto [begin, end] = links_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    if (const auto status = status_of(entry->second)) {
      newest = std::max(newest, static_cast<std::uint64_t>(status->st_ctim.tv_sec) * 1'000'000'000 +
                                    static_cast<std::uint64_t>(status->st_ctim.tv_nsec));
    }
  }
  return newest;
}

std::vector<PartId> StubLinks::parts() const {
  std::vector<PartId> parts;
  for (const auto& [part, link] : links_) {
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

void StubLinks::remove(const PartId& part) const {
  const auto [begin, end] = links_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    const Link& link = entry->second;
    (void)system_calls().unlinkat(directories_[link.directory].file.descriptor(), link.name.c_str(),
                                  0);
  }
}

}  // namespace mcr::restart
