// SPDX-License-Identifier: BSD-3-Clause
#include "restart/part_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"

namespace mcr::restart {
namespace {

std::string bell_name(const std::string& node, const std::string& launch) {
  return "set-asked." + safe_name(node, 60) + "." + safe_name(launch, 80);
}

std::string request_name(const PartId& part, PartWish wish) {
  return "set-request." + part.text() + (wish == PartWish::native ? ".native" : ".container");
}

void make_empty(const std::string& path) {
  (void)File::open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666).has_value();
}

bool is_there(const std::string& path) {
  struct stat status {};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

PartRequest::PartRequest(std::string directory, const std::string& node, const std::string& launch,
                         const PartId& part, PartWish wish)
    : directory_(std::move(directory)),
      bell_(directory_ + "/" + bell_name(node, launch)),
      request_(directory_ + "/" + request_name(part, wish)) {}

PartRequest::~PartRequest() {
  (void)system_calls().unlinkat(AT_FDCWD, request_.c_str(), 0);
  (void)system_calls().unlinkat(AT_FDCWD, bell_.c_str(), 0);
  if (made_directory_) (void)system_calls().unlinkat(AT_FDCWD, directory_.c_str(), AT_REMOVEDIR);
}

void PartRequest::ring() {
  made_directory_ |= system_calls().mkdirat(AT_FDCWD, directory_.c_str(), 0777) == 0;
  make_empty(request_);
  make_empty(bell_);
}

bool take_bell(const std::string& directory, const std::string& node, const std::string& launch) {
  const std::string path = directory + "/" + bell_name(node, launch);
  return system_calls().unlinkat(AT_FDCWD, path.c_str(), 0) == 0;
}

std::optional<PartWish> find_request(const std::string& directory, const PartId& part) {
  for (const PartWish wish : {PartWish::native, PartWish::container}) {
    if (is_there(directory + "/" + request_name(part, wish))) return wish;
  }
  return std::nullopt;
}

}  // namespace mcr::restart
