// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/weaker_files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>

#include "restart/base/path_names.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// Kinds of rights that are compared with one another; of a file with a further kind nobody knows who may exchange it.
constexpr std::size_t most_kinds = 32;

constexpr mode_t others_write = S_IWGRP | S_IWOTH;

std::string text_of(const Bytes& list) {
  std::string text;
  for (const std::byte byte : list) text += static_cast<char>(byte);
  return text;
}

/// Owner, group, mode and access list of the directory, and of those above it up to `base`; empty if they are not known.
std::string rights_of_directory(const std::string& directory, const std::string& base) {
  std::string rights;
  for (std::string at = directory; at.size() >= base.size(); at = parent_of(at)) {
    const auto opened = File::open(AT_FDCWD, at, O_PATH | O_DIRECTORY);
    const auto status = opened ? opened->status() : Result<struct stat>(opened.error());
    if (!status) return {};
    rights += std::to_string(status->st_uid) + ':' + std::to_string(status->st_gid) + ':' +
              std::to_string(status->st_mode) + ':' + text_of(access_list_of(*opened)) + '/';
    if (at == "/") break;
  }
  return rights;
}

/// As far as they say who may write to the file.
std::string rights_of_file(const RankFile& file) {
  std::string rights = std::to_string(file.status.st_uid) + ':';
  if ((file.status.st_mode & others_write) == 0) return rights;
  const auto opened = File::open(AT_FDCWD, file.path, O_PATH);
  return rights + std::to_string(file.status.st_gid) + ':' +
         std::to_string(file.status.st_mode & others_write) + ':' +
         (opened ? text_of(access_list_of(*opened)) : file.path);
}

bool is_link(const std::string& path) {
  struct stat status {};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

/// True if each user who perhaps may exchange or change the file certainly can do so with the other one.
bool may_trust_files(const std::string& file, const std::string& other, uid_t owner) {
  const auto there = File::open(AT_FDCWD, file, O_PATH);
  const auto here = File::open(AT_FDCWD, other, O_PATH);
  const auto from = File::open(AT_FDCWD, parent_of(other), O_PATH | O_DIRECTORY);
  if (!there || !here || !from) return false;
  // If the file is a link, who may exchange the file to which it leads counts, too.
  for (const std::string& path : {file, real_path(file)}) {
    const auto directory = File::open(AT_FDCWD, parent_of(path), O_PATH | O_DIRECTORY);
    const auto trusted = directory ? may_trust_file(*directory, *there, *from, *here, owner)
                                   : Result<bool>(directory.error());
    if (!trusted || !*trusted) return false;
  }
  return true;
}

}  // namespace

std::set<std::uint64_t> weaker_files(const std::vector<RankFile>& files, const std::string& base,
                                     uid_t owner) {
  std::map<std::string, std::string> directories;  // rights
  std::map<std::string, std::vector<const RankFile*>> by_rights;
  for (const RankFile& file : files) {
    const std::string directory = parent_of(file.path);
    const auto [known, is_new] = directories.try_emplace(directory);
    if (is_new) known->second = rights_of_directory(directory, base);
    // A link, and a directory whose rights are not known, are like no other.
    const bool is_like_others = !known->second.empty() && !is_link(file.path);
    by_rights[rights_of_file(file) + '/' + (is_like_others ? known->second : file.path)].push_back(
        &file);
  }
  std::set<std::uint64_t> weaker;
  if (by_rights.size() < 2) return weaker;
  std::vector<const RankFile*> kinds;
  for (const auto& [rights, of_kind] : by_rights) {
    if (kinds.size() < most_kinds) kinds.push_back(of_kind.front());
  }
  for (const auto& [rights, of_kind] : by_rights) {
    const RankFile* const one = of_kind.front();
    const bool is_weaker = std::any_of(kinds.begin(), kinds.end(), [&](const RankFile* other) {
      return other != one && !may_trust_files(one->path, other->path, owner);
    });
    if (!is_weaker) continue;
    for (const RankFile* file : of_kind) weaker.insert(file->number);
  }
  return weaker;
}

}  // namespace mcr::restart
