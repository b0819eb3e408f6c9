// SPDX-License-Identifier: BSD-3-Clause
// File: an owned descriptor. Every system call goes through restart/base/system, which a test may
// replace. EINTR and short transfers are handled here and nowhere else.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// Returns an Error for the present errno: "<what> <name>: <strerror>". ENOSPC and EDQUOT give
/// Cause::full.
Error system_error(std::string_view what, std::string_view name);

class File {
 public:
  File() = default;
  explicit File(int descriptor, std::string name = {})
      : descriptor_(descriptor), name_(std::move(name)) {}
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        name_(std::move(other.name_)),
        guard_(std::move(other.guard_)) {}
  File& operator=(File&& other) noexcept;
  ~File();

  /// openat() with O_CLOEXEC; `flags` and `mode` as for open(2). `directory` may be AT_FDCWD. A file that
  /// is opened with O_CREAT and mode 0600, as all files in a stage are, gets this mode whatever the umask is.
  static Result<File> open(int directory, const std::string& name, int flags, mode_t mode = 0600);

  /// Takes a descriptor that was just opened, and renumbers it so that the program keeps its
  /// numbers (spare_numbers.hpp).
  static File spared(int descriptor, const std::string& name);

  /// Makes a file in memory, without a name in any directory, for reading and writing; `name` is
  /// for messages.
  static Result<File> without_name(const std::string& name);

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& name() const { return name_; }  ///< for messages
  /// From now on our reads leave the access time unchanged, if this user owns the file. The access
  /// time tells whether a program has read, and perhaps copied, a file of ours
  /// (read_marks.hpp).
  void leave_access_time() const;
  /// Keeps `guard` open, and so its lock held, as long as this file is open.
  void hold(File guard) { guard_ = std::make_unique<File>(std::move(guard)); }
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

  /// Fills `out` or fails; a range beyond the end of the file is Cause::damaged ("ends too early").
  Result<void> read_at(std::uint64_t offset, MutableByteSpan out) const;
  /// Reads up to out.size() bytes; fewer only at the end of the file.
  Result<std::size_t> read_some_at(std::uint64_t offset, MutableByteSpan out) const;
  Result<void> write_at(std::uint64_t offset, ByteSpan data) const;
  Result<void> append(ByteSpan data) const;  ///< one write(2) at the end; file opened with O_APPEND
  Result<void> truncate(std::uint64_t size) const;
  Result<void> sync() const;
  /// Asks the system to begin writing that range to storage, so that a later sync() has less to wait for.
  void start_writing_back(std::uint64_t offset, std::uint64_t size) const;
  Result<struct stat> status() const;
  /// False if the file was removed: no name leads to it. True if the system does not say.
  [[nodiscard]] bool has_name() const;
  Result<std::uint64_t> size() const;
  Result<Bytes> read_all(std::size_t limit) const;  ///< Cause::damaged if longer than `limit`

 private:
  int descriptor_ = -1;
  std::string name_;
  std::unique_ptr<File> guard_;
};

/// The name in /proc that leads to the file behind a descriptor of this process.
std::string link_path(int descriptor);

/// Returns the target of a symbolic link that was opened with O_PATH | O_NOFOLLOW. Read through the descriptor,
/// because another link may have taken its name.
Result<std::string> link_target(const File& link);

/// Returns the path by which the file was opened, updated for later renames. For a removed file the
/// kernel appends " (deleted)". Empty if the kernel does not say.
std::string present_path(const File& file);
/// Returns a path from present_path() without " (deleted)": the last path that the file had.
std::string without_deleted_mark(std::string path);

/// Where an open file lies now.
struct PresentName {
  std::string path;         ///< the path of the file; empty if it is not known
  bool is_removed = false;  ///< the name by which it was opened, or each of its names, was removed
};
PresentName present_name(const File& file);

/// True if `name` in `directory` leads to `file`; `name` may end in "..". A link as the last
/// component is not followed.
bool leads_to(int directory, const std::string& name, FileIdentity file);

/// True while `name` in `directory` still leads to the very file that is open.
bool is_still_named(const File& file, int directory, const std::string& name);

/// Returns `path` with all links resolved; empty if nothing lies there.
std::string real_path(const std::string& path);

/// Reads a whole small file; Cause::damaged if it is longer than `limit`.
Result<Bytes> read_file(int directory, const std::string& name, std::size_t limit);

/// Names in a directory, without "." and "..", sorted.
Result<std::vector<std::string>> list_directory(int directory, const std::string& name);

}  // namespace mcr::restart
