// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/part_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_name_bytes = 255;

std::string bell_name(const std::string& node, const std::string& launch) {
  return "set-asked." + safe_name(node, 60) + "." + safe_name(launch, 80);
}

std::string request_name(const PartId& part, PartWish wish) {
  return "set-request." + part.text() + (wish == PartWish::native ? ".native" : ".container");
}

/// True if the file exists and this user or root made it under this name. Ranks ask only for parts of
/// their own launch, so other users' files are no requests.
bool is_there(const File& home, const std::string& name) {
  struct stat status {};
  if (system_calls().fstatat(home.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  const auto file = open_file_beneath(home.descriptor(), name);
  const auto author = file ? author_of(*file, home) : Result<uid_t>(file.error());
  if (!author || !is_believed(*author, ::geteuid())) return false;
  const auto content = file->read_all(most_name_bytes);
  return content && as_text(*content) == name;
}

/// Makes the file if it is missing. It contains its own name, so that another user cannot make one by
/// moving another file of this user there.
bool make_file(const File& home, const std::string& name) {
  return is_there(home, name) || replace_file(home.descriptor(), name, as_bytes(name), 0644,
                                              Durability::none, Existing::kept)
                                     .has_value();
}

Result<File> open_home(const std::string& directory) {
  return File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
}

}  // namespace

PartRequest::PartRequest(std::string directory, File files, const std::string& node,
                         const std::string& launch, const PartId& part, PartWish wish)
    : directory_(std::move(directory)),
      files_directory_(std::move(files)),
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
    auto home = make_open_containers(above_, name_of(directory_), [this](const struct stat& above) {
      return kept_out_of(above);
    });
    if (!home) return;
    made_home_ = home->is_new;
    home_ = std::move(home->directory);
    // Another rank may have made it just now, and may not have closed it yet.
    if (!close_home()) {
      remove();
      home_ = File();
      return;
    }
  }
  if (make_file(home_, request_)) {
    (void)make_file(home_, bell_);
  } else {
    // Another rank, which had made the directory, has removed it at the end of its wait. The next call
    // makes it again.
    remove();
    home_ = File();
  }
}

KeptOut PartRequest::kept_out_of(const struct stat& above) const {
  return files_directory_.is_open() ? kept_out(files_directory_, above) : KeptOut::all();
}

Result<void> PartRequest::close_home() const {
  return close_to(kept_out_of(MCR_TRY(above_.status())), home_, directory_);
}

void PartRequest::remove() {
  if (!home_.is_open()) return;
  for (const std::string& name : {request_, bell_}) {
    if (is_there(home_, name)) (void)system_calls().unlinkat(home_.descriptor(), name.c_str(), 0);
  }
  const std::string name = name_of(directory_);
  if (made_home_ && is_still_named(home_, above_.descriptor(), name))
    (void)system_calls().unlinkat(above_.descriptor(), name.c_str(), AT_REMOVEDIR);
}

bool take_bell(const std::string& directory, const std::string& node, const std::string& launch) {
  const auto home = open_home(directory);
  const std::string bell = bell_name(node, launch);
  return home && is_there(*home, bell) &&
         system_calls().unlinkat(home->descriptor(), bell.c_str(), 0) == 0;
}

std::optional<PartWish> find_request(const std::string& directory, const PartId& part) {
  const auto home = open_home(directory);
  if (!home) return std::nullopt;
  for (const PartWish wish : {PartWish::native, PartWish::container}) {
    if (is_there(*home, request_name(part, wish))) return wish;
  }
  return std::nullopt;
}

}  // namespace mcr::restart
