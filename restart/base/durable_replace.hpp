// SPDX-License-Identifier: BSD-3-Clause
// How a file gets its final name: temporary name, sync, rename, sync of the directory. The storage
// must have an atomic rename, a durable fsync and, for a name that must be free, a rename that
// replaces nothing (RENAME_NOREPLACE) or hard links.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "restart/base/file.hpp"

namespace mcr::restart {

enum class Durability {
  none,     ///< others see the whole file or nothing; power loss may remove it: stubs, notices
  durable,  ///< the file is in storage when the call returns: containers, decisions
};

/// What happens to a file that already has the name.
enum class Existing {
  replaced,  ///< that file is replaced at once
  kept,      ///< that file stays: the call fails with EEXIST and changes nothing
};

/// The names of our temporary files in directories of programs begin with this prefix, so that the
/// programs' globs do not find them.
inline constexpr std::string_view temporary_prefix = ".mcr-";
/// ".mcr-<word>.tmp": the name of a PendingFile.
std::string temporary_name(const std::string& word);

/// A file on its way to its final name. Until finish() the file has only a temporary name in the
/// same directory; the destructor removes it.
class PendingFile {
 public:
  /// Makes the file temporary_name(word), with `mode` less the umask; the prefix keeps the file out
  /// of programs' globs. `directory` must stay open as long as this object. Without a `word` the
  /// name is random. With a `word`, no two living processes may use the same word: an existing file
  /// of that name was left by a dead process and is removed. If that file cannot be removed, it is
  /// another user's; the new file then gets a random name.
  static Result<PendingFile> create(int directory, const std::string& name, mode_t mode,
                                    const std::string& word = {});

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] const std::string& temporary_name() const { return temporary_; }

  /// Steps: 1. sync the file; 2. rename it (if the name must be free: by a rename that replaces
  /// nothing or, if the file system has no such rename, by a hard link and the removal of the
  /// temporary name); 3. sync the directory. A crash before 2 leaves the temporary name and the old
  /// file. A crash after 2 leaves the new file; until 3 is done, power loss may still remove it. An
  /// error in 1 or 2 leaves the old file. An error in 3 means that the new file has the name but
  /// may not be durable.
  Result<void> finish(Durability durability, Existing existing = Existing::replaced);

  /// Like a durable finish(), but replaces only the file `old`, and only if `may_go` still returns
  /// true once `old` cannot be opened by its name any more. Returns false, and changes nothing, if
  /// the name leads to another file or to none. If the file system cannot exchange two names, a
  /// file that gets the name in the last moment is replaced too. A crash may leave the old file
  /// under the temporary name.
  Result<bool> finish_over(const File& old, const std::function<bool()>& may_go);

 private:
  [[nodiscard]] Result<void> check_temporary() const;
  PendingFile(int directory, std::string name, std::string temporary, File file);
  [[nodiscard]] Result<void> sync_parent() const;

  int directory_ = -1;
  std::string name_;
  std::string temporary_;  ///< empty: nothing is pending
  File file_;
};

/// Renames a file that waits under a temporary name, or in another directory, to its final name.
/// Other processes see the whole file or nothing; power loss may remove it. For files at the
/// program's own paths.
Result<void> put_in_place(int from, const std::string& temporary, int directory,
                          const std::string& name);

/// The same for a name that must be free. If the file system has no rename that replaces nothing, a
/// hard link is used instead; a crash may then leave `file` with both names. EEXIST: the name is
/// not free.
Result<void> put_at_free_name(const File& file, int from, const std::string& temporary,
                              int directory, const std::string& name);

/// Creates a PendingFile, writes `content` and finishes it.
Result<void> replace_file(int directory, const std::string& name, ByteSpan content, mode_t mode,
                          Durability durability, Existing existing = Existing::replaced);

/// Syncs a directory. EINVAL means that the file system needs no such sync, and is not an error.
Result<void> sync_directory(int directory);

}  // namespace mcr::restart
