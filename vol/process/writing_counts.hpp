// SPDX-License-Identifier: BSD-3-Clause
// Counts how often this process has written each file: the sequences of its parts (docs/design/sets.md, "How a
// generation is named").
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "restart/base/file_identity.hpp"

namespace mcr::vol {

/// A name as the program passes it. All ranks pass the same names, apart from the rank's number, whatever lies on the
/// way: a neighbour may put a link at one rank's name, or rename a directory above it.
struct WrittenName {
  /// Stands for the directory itself; empty if the name is absolute. It is the directory's path if the file system records
  /// no birth times.
  std::string working_directory;
  std::string passed;  ///< without empty components and "."

  auto operator<=>(const WrittenName&) const = default;
};

WrittenName written_name(const std::string& passed);

/// What is written, and where.
struct Writing {
  WrittenName name;
  std::string path;  ///< to which the name leads at this moment
  restart::FileIdentity directory;
  /// No other user can have put a symbolic link on the way.
  bool is_by_trusted_links = true;
};

/// Thread-safe; but two writings of one file must not begin at the same time (HDF5 has a lock).
class WritingCounts {
 public:
  /// Returns the sequence of the next writing under its name: one more than that of the last one. That of the first is
  /// first(), which tells what earlier programs of the launch did, plus the native writings before it. If the path has such
  /// a sequence already, from a writing under another name, returns the path's next one, unless would_repeat().
  std::uint64_t next(const Writing& writing, const std::function<std::uint64_t()>& first);
  /// The writing that got this sequence did not come about: the next one gets it.
  void take_back(const Writing& writing, std::uint64_t sequence);
  /// The file was written natively, for example because the stage was full. This writing counts, so that the next
  /// captured one does not belong to an earlier step.
  void count_native(const Writing& writing);
  /// H5Fcreate, or H5Fopen for writing, failed under this name. Nobody knows whether it counts as a writing: the program may
  /// try again, or go on without the file.
  void count_failed(const WrittenName& name);
  /// Returns a hash (32 bits) of the attempts that have failed in this process under this name, or under another one by which
  /// this process had already written the path, each with its writing's number; and under other names that lead to the path,
  /// by the links that there were at that moment. Zero: none.
  std::uint64_t failed(const Writing& writing) const;

  /// True if next() would return a sequence that the path has already, because of a writing under another name, and a link
  /// that others may have made lies on the way of one of the names. Such a writing must be native.
  bool would_repeat(const Writing& writing) const;
  /// Returns the directory in which this process last wrote the path, if that writing had this sequence or a later one.
  std::optional<restart::FileIdentity> directory_of(const std::string& path,
                                                    std::uint64_t sequence) const;

 private:
  struct Last {
    std::uint64_t sequence = 0;
    Writing writing;  ///< by which the file got this sequence
  };
  struct LastUnderName {
    std::uint64_t sequence = 0;
    std::string path;
  };
  /// The sequence of the next writing by the count of its name alone. `first`: that of the first writing. `mutex_` is
  /// held.
  std::uint64_t by_name(const Writing& writing, std::uint64_t first) const;
  /// True if the file at `path` has this sequence or a later one already. `mutex_` is held.
  bool is_taken(const std::string& path, std::uint64_t sequence) const;
  /// As would_repeat(), for this sequence. `mutex_` is held.
  bool is_repeated(const Writing& writing, std::uint64_t sequence) const;
  /// Gives the writing a sequence, `by_name` or a later one. `mutex_` is held.
  std::uint64_t count(const Writing& writing, std::uint64_t by_name);

  mutable std::mutex mutex_;
  std::map<WrittenName, LastUnderName> last_;
  /// How often a name was written natively before its first captured writing.
  std::map<WrittenName, std::uint64_t> natives_before_;
  std::map<std::string, std::uint64_t> natives_at_path_;  ///< the same by path, if by trusted links
  std::map<std::string, Last> last_at_path_;              ///< the highest sequence at each path
  std::map<WrittenName, std::uint64_t> failed_;
  std::map<std::string, std::uint64_t> failed_at_path_;
};

}  // namespace mcr::vol
