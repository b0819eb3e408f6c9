// SPDX-License-Identifier: BSD-3-Clause
// The only place that makes a file final: temporary, sync, rename, sync of the directory. What the
// storage is asked for is a rename's atomicity and fsync's durability, no more.
#pragma once

#include <functional>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

enum class Durability {
  none,  ///< others see all of it or nothing, but power loss may take it: stubs, notes in the stage
  durable,  ///< on storage when the call returns: containers, decisions
};

/// What may lie at the name already.
enum class Existing {
  replaced,  ///< whatever lies there is replaced at once
  kept,      ///< the name must be free: else Cause::system with EEXIST, and nothing has changed
};

/// A file on its way to its final name. Until finish() there is only a temporary name in the same
/// directory, which goes when this object goes.
class PendingFile {
 public:
  /// `directory` must stay open as long as this object. The temporary name is ".mcr-<word>.tmp",
  /// with `mode` less what umask takes; the prefix keeps it out of programs' globs. Without a `word`
  /// a new one is made up. With one, a file of that name is what a dead process left, and goes: no
  /// two that live may use the same. Where it cannot be removed, it is another user's, and a new word
  /// is made up all the same.
  static Result<PendingFile> create(int directory, const std::string& name, mode_t mode,
                                    const std::string& word = {});

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] const std::string& temporary_name() const { return temporary_; }

  /// 1. sync the file; 2. rename it (or link it, where the name must be free); 3. sync the
  /// directory. A crash before 2 leaves the temporary name and the old file; after 2 the new file,
  /// which power loss may still take until 3 is done. An error in 1 or 2 leaves the old file; one
  /// in 3 says that the new file is there but may not be durable.
  Result<void> finish(Durability durability, Existing existing = Existing::replaced);

  /// As finish(), durably, but only in the place of that very file, if `may_go` says so of it once nobody
  /// can open it by its name any more. False, and nothing has changed: another file lies at the name, or
  /// none. Where the file system cannot exchange two names, what comes to the name in the last moment is
  /// replaced all the same. A crash may leave the old file under the temporary name.
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

/// The rename that makes a file final which waits under a name of its own, or in another directory; others
/// see all of it or nothing, and power loss may take it. For files that come to the program's own names.
Result<void> put_in_place(int from, const std::string& temporary, int directory,
                          const std::string& name);

/// All of that for bytes in memory.
Result<void> replace_file(int directory, const std::string& name, ByteSpan content, mode_t mode,
                          Durability durability, Existing existing = Existing::replaced);

/// fsync of a directory; where the file system cannot do that (EINVAL), it is not needed.
Result<void> sync_directory(int directory);

}  // namespace mcr::restart
