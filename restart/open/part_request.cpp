// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/part_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "restart/base/file.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
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

bool make_empty(const File& home, const std::string& name) {
  return open_beneath(home.descriptor(), name, O_WRONLY | O_CREAT, 0666).has_value();
}

/// True if the file exists and is this user's or root's. Ranks ask only for parts of their own
/// launch, so other users' files are no requests.
bool is_there(int directory, const std::string& name) {
  struct stat status {};
  return system_calls().fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode) && is_believed(status.st_uid, ::geteuid());
}

}  // namespace

PartRequest::PartRequest(std::string directory, const std::string& node, const std::string& launch,
                         const PartId& part, PartWish wish)
    : directory_(std::move(directory)),
      bell_(bell_name(node, launch)),
      request_(request_name(part, wish)) {}

PartRequest::~PartRequest() { remove(); }

void PartRequest::ring() {
  if (!above_.is_open()) {
    auto above = File::open(AT_FDCWD, parent_of(directory_), O_PATH | O_DIRECTORY);
    if (!above) return;
    above_ = *std::move(above);
  }
  if (!home_.is_open()) {
    auto home = make_open_containers(above_, name_of(directory_));
    if (!home) return;
    made_home_ = home->is_new;
    home_ = std::move(home->directory);
  }
  if (make_empty(home_, request_)) {
    (void)make_empty(home_, bell_);
  } else {
    // Another rank, which had made the directory, has removed it at the end of its wait. The next call
    // makes it again.
    remove();
    home_ = File();
  }
}

void PartRequest::remove() {
  if (!home_.is_open()) return;
  for (const std::string& name : {request_, bell_}) {
    if (is_there(home_.descriptor(), name))
      (void)system_calls().unlinkat(home_.descriptor(), name.c_str(), 0);
  }
  const std::string name = name_of(directory_);
  if (made_home_ && is_still_named(home_, above_.descriptor(), name))
    (void)system_calls().unlinkat(above_.descriptor(), name.c_str(), AT_REMOVEDIR);
}

bool take_bell(const std::string& directory, const std::string& node, const std::string& launch) {
  const std::string path = directory + "/" + bell_name(node, launch);
  return is_there(AT_FDCWD, path) && system_calls().unlinkat(AT_FDCWD, path.c_str(), 0) == 0;
}

std::optional<PartWish> find_request(const std::string& directory, const PartId& part) {
  for (const PartWish wish : {PartWish::native, PartWish::container}) {
    if (is_there(AT_FDCWD, directory + "/" + request_name(part, wish))) return wish;
  }
  return std::nullopt;
}

}  // namespace mcr::restart
