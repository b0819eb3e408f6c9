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

/// A name as the program passes it. All ranks pass the same names, whatever lies on the way: a neighbour may put a
/// link at one rank's name, or rename a directory above it.
struct WrittenName {
  std::string
      working_directory;  ///< stands for the directory itself; empty if the name is absolute
  std::string passed;     ///< without empty components and "."

  auto operator<=>(const WrittenName&) const = default;
};

WrittenName written_name(const std::string& passed);

/// What is written, and where.
struct Writing {
  WrittenName name;
  std::string path;  ///< to which the name leads at this moment
  restart::FileIdentity directory;
};

/// Thread-safe.
class WritingCounts {
 public:
  /// Returns the sequence of the next writing under its name: one more than that of the last
  /// writing under this name. For the first one it returns the value of first(), which tells what earlier programs of
  /// the launch did. If the program writes a file under two names, the sequence goes on from the file's last one.
  std::uint64_t next(const Writing& writing, const std::function<std::uint64_t()>& first);
  /// The writing that got this sequence did not come about: the next one gets it.
  void take_back(const Writing& writing, std::uint64_t sequence);
  /// The file was written natively, for example because the stage was full. This writing counts, so that the next
  /// captured one does not belong to an earlier step.
  void count_native(const WrittenName& name);

  /// True if a link that others may have made led this process to the file under another name, and the file has got
  /// the sequence of the next writing already. The parts of two writings would then have one sequence, so the next
  /// writing must be native.
  bool is_misled(const WrittenName& name, const std::string& path) const;
  /// Returns the directory in which this process wrote the path in this sequence; nothing if it did not.
  std::optional<restart::FileIdentity> directory_of(const std::string& path,
                                                    std::uint64_t sequence) const;

 private:
  struct Last {
    std::uint64_t sequence = 0;
    WrittenName name;  ///< under which the file got this sequence
    restart::FileIdentity directory;
  };
  /// The sequence of the next writing by the count of its name alone. `first`: that of the first writing. `mutex_` is
  /// held.
  std::uint64_t by_name(const WrittenName& name, std::uint64_t first) const;
  /// True if the file at `path` has this sequence or a later one already. `mutex_` is held.
  bool is_taken(const std::string& path, std::uint64_t sequence) const;

  mutable std::mutex mutex_;
  std::map<WrittenName, std::uint64_t> last_;  ///< the last sequence under each name
  /// How often a name was written natively before its first captured writing.
  std::map<WrittenName, std::uint64_t> natives_before_;
  std::map<std::string, Last> last_at_path_;  ///< the highest sequence at each path
};

}  // namespace mcr::vol
