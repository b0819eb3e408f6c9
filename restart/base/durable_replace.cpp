// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/durable_replace.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "restart/base/part_id.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {

std::string temporary_name(const std::string& word) {
  return std::string(temporary_prefix) + word + ".tmp";
}

PendingFile::PendingFile(int directory, std::string name, std::string temporary, File file)
    : directory_(directory),
      name_(std::move(name)),
      temporary_(std::move(temporary)),
      file_(std::move(file)) {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : directory_(other.directory_),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)) {}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) (void)system_calls().unlinkat(directory_, temporary_.c_str(), 0);
}

Result<PendingFile> PendingFile::create(int directory, const std::string& name, mode_t mode,
                                        const std::string& word) {
  // The temporary file lies in the directory of the final name.
  const std::size_t slash = name.rfind('/');
  const std::string before = slash == std::string::npos ? std::string() : name.substr(0, slash + 1);
  const auto open = [&](const std::string& with) -> Result<PendingFile> {
    std::string temporary = before + restart::temporary_name(with);
    File file =
        MCR_TRY(File::open(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    return PendingFile(directory, name, std::move(temporary), std::move(file));
  };
  if (!word.empty()) {
    (void)system_calls().unlinkat(directory, (before + restart::temporary_name(word)).c_str(), 0);
    auto made = open(word);
    if (made || made.error().system_error != EEXIST) return made;
    // A file of another user has that name: take a random name instead.
  }
  return open(MCR_TRY(PartId::random()).text().substr(0, 16));
}

// Refuses to finish if another process removed the temporary file. A library that writes by name,
// as HDF5 does, would have made a new file there, which was never synced.
Result<void> PendingFile::check_temporary() const {
  if (is_still_named(file_, directory_, temporary_)) return {};
  errno = ENOENT;
  return system_error("another process removed the temporary file of", name_);
}

Result<bool> PendingFile::finish_over(const File& old, const std::function<bool()>& may_go) {
  MCR_TRY(check_temporary());
  MCR_TRY(file_.sync());
  const auto exchange = [&] {
    return system_calls().rename_exchange(directory_, temporary_.c_str(), directory_,
                                          name_.c_str()) == 0;
  };
  if (!is_still_named(old, directory_, name_) || !may_go()) return false;
  if (!exchange()) {
    if (errno == ENOENT) return false;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
      return system_error("cannot put in place", name_);
    MCR_TRY(put_in_place(directory_, temporary_, directory_, name_));
    temporary_.clear();
    MCR_TRY(sync_parent());
    return true;
  }
  if (!is_still_named(old, directory_, temporary_) || !may_go()) {
    // Before the exchange, another file got the name, or the old file changed: undo the exchange.
    if (exchange()) return false;
    // The program has just removed the name. The file at the temporary name is the program's: give
    // it the name back.
    const std::string left = std::exchange(temporary_, {});
    if (system_calls().rename_new(directory_, left.c_str(), directory_, name_.c_str()) == 0)
      return false;
    return system_error("cannot rename the program's file back to " + name_ + "; the file is now",
                        left);
  }
  (void)system_calls().unlinkat(directory_, temporary_.c_str(), 0);
  temporary_.clear();
  MCR_TRY(sync_parent());
  return true;
}

Result<void> PendingFile::finish(Durability durability, Existing existing) {
  MCR_TRY(check_temporary());
  if (durability == Durability::durable) MCR_TRY(file_.sync());
  MCR_TRY(existing == Existing::replaced
              ? put_in_place(directory_, temporary_, directory_, name_)
              : put_at_free_name(file_, directory_, temporary_, directory_, name_));
  temporary_.clear();
  return durability == Durability::durable ? sync_parent() : Result<void>();
}

Result<void> PendingFile::sync_parent() const {
  const std::size_t slash = name_.rfind('/');
  if (slash == std::string::npos) return sync_directory(directory_);
  const File parent = MCR_TRY(
      File::open(directory_, slash == 0 ? "/" : name_.substr(0, slash), O_RDONLY | O_DIRECTORY));
  return sync_directory(parent.descriptor());
}

Result<void> put_in_place(int from, const std::string& temporary, int directory,
                          const std::string& name) {
  if (system_calls().renameat(from, temporary.c_str(), directory, name.c_str()) == 0) return {};
  return system_error("cannot put in place", name);
}

Result<void> put_at_free_name(const File& file, int from, const std::string& temporary,
                              int directory, const std::string& name) {
  const auto failed = [&] {
    return errno == EEXIST ? system_error("a file exists already at", name)
                           : system_error("cannot put in place", name);
  };
  if (system_calls().rename_new(from, temporary.c_str(), directory, name.c_str()) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return failed();
  // The file system (NFS, for example) has no such rename.
  if (system_calls().linkat(from, temporary.c_str(), directory, name.c_str(), 0) != 0) {
    const Error error = failed();
    // Over NFS the answer to a successful link() may get lost; the repeated call then finds its own
    // link.
    if (error.system_error != EEXIST || !is_still_named(file, directory, name)) return error;
  }
  (void)system_calls().unlinkat(from, temporary.c_str(), 0);
  return {};
}

Result<void> replace_file(int directory, const std::string& name, ByteSpan content, mode_t mode,
                          Durability durability, Existing existing) {
  PendingFile pending = MCR_TRY(PendingFile::create(directory, name, mode));
  MCR_TRY(pending.file().write_at(0, content));
  return pending.finish(durability, existing);
}

Result<void> sync_directory(int directory) {
  int answer = 0;
  do {
    answer = system_calls().fsync(directory);
  } while (answer != 0 && errno == EINTR);
  if (answer == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return system_error("cannot sync", "a directory");
}

}  // namespace mcr::restart
