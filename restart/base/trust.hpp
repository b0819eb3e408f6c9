// SPDX-License-Identifier: BSD-3-Clause
// What may be believed, by this user, of files that others can make (docs/design/trust-boundaries.md).
//
// The one rule: what a file says is believed as far as its owner could have done the same with
// native files, and no further. Two questions follow from it, and everything that goes where a file
// points asks them here:
//
//  * Who made it? A container, a note or a decision counts for a file only if its maker is the owner
//    of that file, root, or a user who could have replaced that file: the owner of its directory or,
//    in a directory without a sticky bit that several users may write to, each of them.
//  * Where does it lead? A place that a file names is a name below a directory that is held open.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// Relative, of plain components: none is empty, "." or "..".
bool is_plain_path(std::string_view path);

/// Opens what lies below an open directory, without leaving it: `path` must be plain, and no link
/// is followed, the last one neither (ELOOP; EXDEV for a path that is not plain). Nothing waits for a
/// pipe.
Result<File> open_beneath(int directory, const std::string& path, int flags, mode_t mode = 0600);
/// The same for a regular file that is read; ENXIO where something else lies there.
Result<File> open_file_beneath(int directory, const std::string& path);

/// Whether what `writer` made counts for a file of `owner`'s, wherever both lie.
bool is_believed(uid_t writer, uid_t owner);

/// Whether a link there may be followed by this user: his own, or root's.
bool is_own_link(const struct stat& status);

/// A directory of ours, `inner`, that stands in `outer` beside the files that it is about.
class Beside {
 public:
  Beside() = default;  ///< both are root's, and closed to everybody else
  Beside(const struct stat& outer, const struct stat& inner)
      : outer_(outer),
        inner_(inner),
        outer_group_(outer.st_mode & S_IRWXG),
        inner_group_(inner.st_mode & S_IRWXG) {}
  /// The directory at that path and the one above it, links followed; as above where they cannot be
  /// looked at.
  static Beside of(const std::string& directory);
  /// The same where the directory is open.
  static Beside of(const File& inner, const std::string& directory);
  /// Both are open, perhaps by O_PATH. What their access lists give counts too, where it is asked who
  /// may write.
  static Result<Beside> of(const File& outer, const File& inner);
  /// For files that lie in the directory at that path itself.
  static Beside in(const std::string& directory);

  /// Whether what `writer` made in `inner` counts for a file of `owner`'s in `outer`, or below it.
  [[nodiscard]] bool believes(uid_t writer, uid_t owner) const;
  /// Whether this user may keep files in `inner`: nobody can do more to them there than to files in
  /// `outer`.
  [[nodiscard]] bool may_be_used() const;
  /// Whoever may write to `outer` may exchange what lies in either: what they made counts alike.
  [[nodiscard]] bool is_shared_by_all() const;
  /// Whether whoever may write to `outer`, which is `owner`'s or root's, may also remove what lies in
  /// `inner`.
  [[nodiscard]] bool writers_may_remove(uid_t owner) const;
  /// The user to whom a file that `writer` made in `inner` is attributed: `writer`, or 0 in a shared
  /// directory, where all writers count as one.
  [[nodiscard]] uid_t voice(uid_t writer) const { return is_shared_by_all() ? 0 : writer; }
  /// The owner of `outer`.
  [[nodiscard]] uid_t host() const { return outer_.st_uid; }
  /// Which directory `inner` is.
  [[nodiscard]] FileIdentity identity() const { return FileIdentity(inner_); }
  /// Lets nobody write to `inner` who may not write to `outer`, and with a sticky bit where that has
  /// one.
  [[nodiscard]] bool is_no_more_open() const;

 private:
  struct stat outer_ {};
  struct stat inner_ {};
  mode_t outer_group_ = 0;  ///< rights of the group that owns it, where they stand in a mode
  mode_t inner_group_ = 0;
};

/// True if the file, which lies in the directory at that path, belongs to `owner`, to root, or to a user
/// who could have replaced `owner`'s files there.
bool is_believed_in(const std::string& directory, const struct stat& file, uid_t owner);

/// As the kernel tells it, but with the rights of the group that owns the directory in the group's
/// bits. With an access list these are the list's mask: the most that any named user or group may do.
Result<struct stat> status_with_own_group(const File& directory);

/// Whether an access list names who may use the directory, beside owner, group and others.
bool has_access_list(const File& directory);
/// Whether what is made in the directory inherits an access list.
bool has_default_list(const File& directory);

/// The mode for a directory of ours in `outer`, before umask: what mkdir() is to be called with.
mode_t mode_beside(const struct stat& outer);

/// For messages: "user 1000".
std::string user_text(uid_t user);

}  // namespace mcr::restart
