// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/part_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "restart/base/file.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::restart {
namespace {

std::string bell_name(const std::string& node, const std::string& launch) {
  return "set-asked." + safe_name(node, 60) + "." + safe_name(launch, 80);
}

std::string request_name(const PartId& part, PartWish wish) {
  return "set-request." + part.text() + (wish == PartWish::native ? ".native" : ".container");
}

void make_empty(const File& home, const std::string& name) {
  (void)open_beneath(home.descriptor(), name, O_WRONLY | O_CREAT, 0666).has_value();
}

/// True if the file exists and is this user's or root's. Ranks ask only for parts of their own
/// launch, so other users' files are no requests.
bool is_there(const std::string& path) {
  struct stat status {};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode) && is_believed(status.st_uid, ::geteuid());
}

}  // namespace

PartRequest::PartRequest(std::string directory, const std::string& node, const std::string& launch,
                         const PartId& part, PartWish wish)
    : directory_(std::move(directory)),
      bell_(bell_name(node, launch)),
      request_(request_name(part, wish)) {}

PartRequest::~PartRequest() {
  if (const auto home = open_own_containers(directory_)) {
    for (const std::string& name : {request_, bell_}) {
      if (is_there(directory_ + "/" + name))
        (void)system_calls().unlinkat(home->descriptor(), name.c_str(), 0);
    }
  }
  if (made_directory_) (void)system_calls().unlinkat(AT_FDCWD, directory_.c_str(), AT_REMOVEDIR);
}

void PartRequest::ring() {
  struct stat there {};
  const bool is_new = system_calls().fstatat(AT_FDCWD, directory_.c_str(), &there, 0) != 0;
  const auto home = make_own_containers(directory_);
  if (!home) return;
  made_directory_ |= is_new;
  make_empty(*home, request_);
  make_empty(*home, bell_);
}

bool take_bell(const std::string& directory, const std::string& node, const std::string& launch) {
  const std::string path = directory + "/" + bell_name(node, launch);
  return is_there(path) && system_calls().unlinkat(AT_FDCWD, path.c_str(), 0) == 0;
}

std::optional<PartWish> find_request(const std::string& directory, const PartId& part) {
  for (const PartWish wish : {PartWish::native, PartWish::container}) {
    if (is_there(directory + "/" + request_name(part, wish))) return wish;
  }
  return std::nullopt;
}

}  // namespace mcr::restart
