// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/stub_links.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "restart/base/attributes.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/container_places.hpp"
#include "restart/sets/own_containers.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::restart {
namespace {

std::string directory_of_links(const std::string& containers) {
  return containers + "/" + std::string(stub_links_directory);
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

/// Every user who may enter `home` can reach the file through a link in it, even if directories
/// above the file keep that user out. So all other users lose access to `home`. If several users
/// keep links in `home`, a file below such directories is not linked (EPERM).
Result<void> close_to_others(const File& above, const File& home, const File& stub,
                             const std::string& path) {
  const File directory = MCR_TRY(open_directory_of(path, FileIdentity(MCR_TRY(stub.status()))));
  const File outer = MCR_TRY(File::open(above.descriptor(), "..", O_PATH | O_DIRECTORY));
  const FileIdentity base(MCR_TRY(outer.status()));
  if (!is_at_or_above(base, directory)) {
    errno = ESTALE;  // another directory has come to the path of `above`
    return system_error("the file is no longer below the directory", above.name());
  }
  const struct stat status = MCR_TRY(home.status());
  constexpr mode_t others = S_IRWXG | S_IRWXO;
  if ((status.st_mode & others) == 0) return {};
  if (is_ours_alone(status)) {
    if (system_calls().fchmod(home.descriptor(), status.st_mode & 07777 & ~others) == 0) return {};
    return system_error("cannot close", directory_of_links(above.name()));
  }
  const Access access = MCR_TRY(access_of(stub));
  if (closed_by_directories(access, directory, base) == access) return {};
  errno = EPERM;
  return system_error("users who may not reach the file may enter the directory",
                      directory_of_links(above.name()));
}

/// Links through the descriptor, which leads to the stub even after the program has moved it. Links
/// by the path only if there is no /proc.
bool try_link(const File& stub, const std::string& path, const File& home,
              const std::string& link) {
  const std::string open = link_path(stub.descriptor());
  if (system_calls().linkat(AT_FDCWD, open.c_str(), home.descriptor(), link.c_str(),
                            AT_SYMLINK_FOLLOW) == 0)
    return true;
  const int number = errno;
  struct stat proc {};
  if (number == ENOENT && system_calls().fstatat(AT_FDCWD, "/proc/self/fd", &proc, 0) != 0)
    return system_calls().linkat(AT_FDCWD, path.c_str(), home.descriptor(), link.c_str(), 0) == 0;
  errno = number;
  return false;
}

}  // namespace

Result<void> link_stub(const std::string& containers, const PartId& part, const File& stub,
                       const std::string& path) {
  return link_stub(MCR_TRY(make_own_containers(containers)), part, stub, path);
}

Result<void> link_stub(const File& containers, const PartId& part, const File& stub,
                       const std::string& path) {
  const struct stat status = MCR_TRY(stub.status());
  const File home = MCR_TRY(make_in_own_containers(containers, std::string(stub_links_directory)));
  MCR_TRY(close_to_others(containers, home, stub, path));
  const std::string link = name_of_link(part, status.st_ino);
  if (!try_link(stub, path, home, link)) {
    if (errno == EEXIST) return {};
    if (errno == EPERM) errno = EOPNOTSUPP;  // here EPERM means a file system without hard links
    return system_error("cannot make the hard link",
                        containers.name() + "/" + std::string(stub_links_directory) + "/" + link);
  }
  struct stat linked {};
  if (system_calls().fstatat(home.descriptor(), link.c_str(), &linked, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_same(linked, status)) {
    return {};
  }
  // Another file has the path by now: remove the link to that file.
  (void)system_calls().unlinkat(home.descriptor(), link.c_str(), 0);
  return Error{Cause::system, path + " was replaced by another file", ESTALE};
}

std::optional<std::string> our_link_to(const Stub& stub, const std::string& path,
                                       const struct stat& status) {
  if (status.st_nlink > 2) return std::nullopt;
  for (const ContainerPlace& place : container_places(stub, path, "none")) {
    std::string link =
        directory_of_links(place.directory) + "/" + name_of_link(stub.part, status.st_ino);
    struct stat there {};
    if (system_calls().fstatat(AT_FDCWD, link.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        is_same(there, status)) {
      return link;
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
  const auto links = open_beneath(containers.descriptor(), std::string(stub_links_directory),
                                  O_PATH | O_DIRECTORY);
  const std::string link = name_of_link(part, status.st_ino);
  struct stat there {};
  if (links &&
      system_calls().fstatat(links->descriptor(), link.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_same(there, status))
    (void)system_calls().unlinkat(links->descriptor(), link.c_str(), 0);
}

Result<StubLinks> StubLinks::list(const std::string& containers) {
  const auto home = File::open(AT_FDCWD, containers, O_PATH | O_DIRECTORY);
  if (home) return list(*home);
  if (home.error().system_error == ENOENT) return StubLinks();
  return home.error();
}

Result<StubLinks> StubLinks::list(const File& containers) {
  StubLinks links;
  auto directory = open_beneath(containers.descriptor(), std::string(stub_links_directory),
                                O_RDONLY | O_DIRECTORY);
  if (!directory) {
    if (directory.error().system_error == ENOENT) return links;
    return directory.error();
  }
  links.beside_ = MCR_TRY(Beside::of(containers, *directory));
  for (std::string& name : MCR_TRY(list_directory(directory->descriptor(), "."))) {
    if (const auto parsed = parse_link_name(name)) {
      links.names_.emplace(parsed->part, std::move(name));
    }
  }
  links.directory_ = std::move(*directory);
  return links;
}

StubLinks::Fate StubLinks::fate(const PartId& part, uid_t owner) const {
  Fate fate = Fate::unknown;
  if (!beside_.adders_may_remove(owner)) return fate;
  const auto [begin, end] = names_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    struct stat status {};
    if (system_calls().fstatat(directory_->descriptor(), entry->second.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) != 0) {
      return Fate::unknown;
    }
    // A link made by another user says nothing about this user's stub.
    if (status.st_uid != owner) continue;
    if (!S_ISREG(status.st_mode) || parse_link_name(entry->second)->inode != status.st_ino)
      continue;
    if (status.st_nlink != 1) return Fate::in_use;
    const auto there = file_at(directory_->descriptor(), entry->second, Links::not_followed);
    if (there.is_stub_of(part) && is_same(there.status, status)) fate = Fate::given_up;
  }
  return fate;
}

std::uint64_t StubLinks::changed_ns(const PartId& part) const {
  std::uint64_t newest = 0;
  const auto [begin, end] = names_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    struct stat status {};
    if (system_calls().fstatat(directory_->descriptor(), entry->second.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) == 0) {
      newest = std::max(newest, static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
                                    static_cast<std::uint64_t>(status.st_ctim.tv_nsec));
    }
  }
  return newest;
}

std::vector<PartId> StubLinks::parts() const {
  std::vector<PartId> parts;
  for (const auto& [part, name] : names_) {
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

void StubLinks::remove(const PartId& part) const {
  const auto [begin, end] = names_.equal_range(part);
  for (auto entry = begin; entry != end; ++entry) {
    (void)system_calls().unlinkat(directory_->descriptor(), entry->second.c_str(), 0);
  }
}

}  // namespace mcr::restart
