// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "restart/base/file_identity.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/spare_numbers.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

/// The most bytes that are asked for in one call: Linux transfers at most 2 GiB - 4 KiB.
constexpr std::size_t transfer_limit = std::size_t{1} << 30;

/// The kernel appends this mark to the paths of removed files.
constexpr std::string_view deleted_mark = " (deleted)";

/// Repeats the call until it is not interrupted (EINTR).
template <typename Call>
auto repeat(Call call) {
  auto answer = call();
  while (answer < 0 && errno == EINTR) answer = call();
  return answer;
}

constexpr mode_t private_mode = 0600;

/// Other processes of this user must be able to read and write the file, too.
void undo_umask(const File& file) {
  const auto now = file.status();
  if (now && (now->st_mode & private_mode) != private_mode)
    (void)system_calls().fchmod(file.descriptor(), private_mode);
}

Result<off_t> file_offset(std::uint64_t offset, const std::string& name) {
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return Error{Cause::damaged, name + ": offset " + std::to_string(offset) + " is impossible"};
  }
  return static_cast<off_t>(offset);
}

}  // namespace

Error system_error(std::string_view what, std::string_view name) {
  const int number = errno;
  char buffer[128];
  // GNU's strerror_r never fails. It returns the text, which need not lie in the buffer.
  const char* text = strerror_r(number, buffer, sizeof buffer);
  Error error;
  error.cause = number == ENOSPC || number == EDQUOT ? Cause::full : Cause::system;
  error.system_error = number;
  error.message = std::string(what);
  if (!name.empty()) error.message.append(" ").append(name);
  error.message.append(": ").append(text);
  return error;
}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) system_calls().close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    name_ = std::move(other.name_);
    guard_ = std::move(other.guard_);
  }
  return *this;
}

File::~File() {
  // The call is not repeated after EINTR, because Linux has freed the descriptor by then.
  if (descriptor_ >= 0) system_calls().close(descriptor_);
}

Result<File> File::open(int directory, const std::string& name, int flags, mode_t mode) {
  const int descriptor = repeat(
      [&] { return system_calls().openat(directory, name.c_str(), flags | O_CLOEXEC, mode); });
  if (descriptor < 0) return system_error("cannot open", name);
  File file(spared_number(descriptor), name);
  if ((flags & O_CREAT) != 0 && mode == private_mode) undo_umask(file);
  return file;
}

File File::spared(int descriptor, const std::string& name) {
  return File(spared_number(descriptor), name);
}

Result<File> File::without_name(const std::string& name) {
  const int descriptor = repeat([] { return system_calls().memory_file(); });
  if (descriptor < 0) return system_error("cannot make a file in memory for", name);
  return File(spared_number(descriptor), name);
}

void File::leave_access_time() const {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags >= 0) (void)::fcntl(descriptor_, F_SETFL, flags | O_NOATIME);
}

Result<std::size_t> File::read_some_at(std::uint64_t offset, MutableByteSpan out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const off_t place = MCR_TRY(file_offset(offset + done, name_));
    const std::size_t wanted = std::min(out.size() - done, transfer_limit);
    const ssize_t got =
        repeat([&] { return system_calls().pread(descriptor_, out.data() + done, wanted, place); });
    if (got < 0) return system_error("cannot read", name_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<void> File::read_at(std::uint64_t offset, MutableByteSpan out) const {
  const std::size_t got = MCR_TRY(read_some_at(offset, out));
  if (got < out.size()) {
    return Error{Cause::damaged, name_ + " ends too early: of " + std::to_string(out.size()) +
                                     " bytes from byte " + std::to_string(offset) + " on, only " +
                                     std::to_string(got) + " exist"};
  }
  return {};
}

Result<void> File::write_at(std::uint64_t offset, ByteSpan data) const {
  std::size_t done = 0;
  while (done < data.size()) {
    const off_t place = MCR_TRY(file_offset(offset + done, name_));
    const std::size_t wanted = std::min(data.size() - done, transfer_limit);
    const ssize_t written = repeat(
        [&] { return system_calls().pwrite(descriptor_, data.data() + done, wanted, place); });
    if (written < 0) return system_error("cannot write", name_);
    if (written == 0) {
      errno = EIO;  // no error and no progress: fail rather than retry for ever
      return system_error("cannot write", name_);
    }
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> File::append(ByteSpan data) const {
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t written = repeat(
        [&] { return system_calls().write(descriptor_, data.data() + done, data.size() - done); });
    if (written <= 0) {
      if (written == 0) errno = EIO;
      const Error error = system_error("cannot append to", name_);
      if (done > 0) {
        // Remove the bytes that were written, so that a later append does not follow a torn record.
        const auto now = size();
        if (now && *now >= done) (void)truncate(*now - done).has_value();
      }
      return error;
    }
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> File::truncate(std::uint64_t size) const {
  const off_t end = MCR_TRY(file_offset(size, name_));
  if (repeat([&] { return system_calls().ftruncate(descriptor_, end); }) < 0) {
    return system_error("cannot set the size of", name_);
  }
  return {};
}

Result<void> File::sync() const {
  if (repeat([&] { return system_calls().fsync(descriptor_); }) < 0) {
    return system_error("cannot sync", name_);
  }
  return {};
}

void File::start_writing_back(std::uint64_t offset, std::uint64_t size) const {
  // Not every file system can do this, and none has to.
  (void)::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size),
                          SYNC_FILE_RANGE_WRITE);
}

Result<struct stat> File::status() const {
  struct stat status {};
  if (repeat([&] { return system_calls().fstat(descriptor_, &status); }) < 0) {
    return system_error("cannot ask for the status of", name_);
  }
  return status;
}

Result<std::uint64_t> File::size() const {
  const struct stat now = MCR_TRY(status());
  return static_cast<std::uint64_t>(now.st_size);
}

Result<Bytes> File::read_all(std::size_t limit) const {
  // The size alone does not suffice: files of /proc and /sys have size 0, and a file may grow while
  // it is read.
  const std::uint64_t expected = MCR_TRY(size());
  Bytes content;
  std::size_t done = 0;
  std::size_t step = static_cast<std::size_t>(std::min<std::uint64_t>(expected, limit)) + 1;
  while (true) {
    content.resize(done + step);
    const std::size_t got = MCR_TRY(read_some_at(done, MutableByteSpan(content).subspan(done)));
    done += got;
    if (done > limit) {
      return Error{Cause::damaged, name_ + " is longer than " + std::to_string(limit) + " bytes"};
    }
    if (got < step) break;
    step = std::min<std::size_t>(4096, limit - done + 1);
  }
  content.resize(done);
  return content;
}

bool File::has_name() const {
  const auto now = status();
  return !now || now->st_nlink > 0;
}

std::string link_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

bool leads_to(int directory, const std::string& name, FileIdentity file) {
  struct stat status {};
  return system_calls().fstatat(directory, name.empty() ? "." : name.c_str(), &status,
                                AT_SYMLINK_NOFOLLOW) == 0 &&
         FileIdentity(status) == file;
}

bool is_still_named(const File& file, int directory, const std::string& name) {
  struct stat by_name {};
  if (system_calls().fstatat(directory, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) != 0) {
    return false;
  }
  const auto by_descriptor = file.status();
  return by_descriptor && FileIdentity(*by_descriptor) == FileIdentity(by_name);
}

std::string without_deleted_mark(std::string path) {
  if (path.ends_with(deleted_mark)) path.resize(path.size() - deleted_mark.size());
  return path;
}

Result<std::string> link_target(const File& link) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length =
      system_calls().readlinkat(link.descriptor(), "", target.data(), target.size());
  if (length <= 0 || static_cast<std::size_t>(length) == target.size()) {
    if (length >= 0) errno = length == 0 ? ENOENT : ENAMETOOLONG;
    return system_error("cannot read the link", link.name());
  }
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::string present_path(const File& file) {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = system_calls().readlinkat(AT_FDCWD, link_path(file.descriptor()).c_str(),
                                                   path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size() || path[0] != '/') return {};
  return {path.data(), static_cast<std::size_t>(length)};
}

PresentName present_name(const File& file) {
  const std::string path = present_path(file);
  if (!path.empty() && is_still_named(file, AT_FDCWD, path)) return {path, false};
  return {{}, !file.has_name() || path.ends_with(deleted_mark)};
}

std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string text = resolved;
  std::free(resolved);
  return text;
}

Result<Bytes> read_file(int directory, const std::string& name, std::size_t limit) {
  // O_NONBLOCK: opening a named pipe must not block. The flag has no effect on regular files.
  const File file = MCR_TRY(File::open(directory, name, O_RDONLY | O_NONBLOCK));
  return file.read_all(limit);
}

Result<std::vector<std::string>> list_directory(int directory, const std::string& name) {
  std::vector<std::string> names;
  MCR_TRY(for_each_name(directory, name, [&](std::string found) {
    names.push_back(std::move(found));
    return true;
  }));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mcr::restart
