// SPDX-License-Identifier: BSD-3-Clause
// Which files of other users this user believes, and for what (docs/design/trust-boundaries.md).
//
// The one rule: a file's content is believed only as far as its owner could have had the same
// effect with native files. Two questions follow from this rule. All code that follows what a file
// says asks them here:
//
//  * Who made it? A container, a note or a decision counts for a file only if its maker is the
//    owner of that file, root, or a user who could have replaced that file. Such a user is the
//    owner of the file's directory and, if several users may write to a directory without a sticky
//    bit, each of these users.
//  * Where does it lead? A path that a file names is looked up below a directory that is held open.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// True if the path is relative and no component is empty, "." or "..".
bool is_plain_path(std::string_view path);

/// Opens a file below an open directory without leaving it. `path` must be plain (else EXDEV), and
/// no link is followed, not even the last component (ELOOP). Never blocks on a pipe.
Result<File> open_beneath(int directory, const std::string& path, int flags, mode_t mode = 0600);
/// Opens a regular file for reading in the same way; ENXIO if something else lies there.
Result<File> open_file_beneath(int directory, const std::string& path);

/// True if a file that `writer` made counts for a file of `owner`, wherever the two files lie.
bool is_believed(uid_t writer, uid_t owner);

/// True if group or others may write. With an access list, the group bits include what the list gives to
/// users and groups that it names.
bool others_may_write(const struct stat& status);
/// True if the file is this user's, and no other user may write to it.
bool is_ours_alone(const struct stat& status);

/// True if other users may add names to the directory, but not remove this user's (sticky bit). They can
/// then move this user's own files, links and directories into it, so that a name there proves nothing.
bool others_may_only_add(const struct stat& directory);

/// Stands for a user who is not known, and who is therefore never believed.
inline constexpr uid_t unknown_user = static_cast<uid_t>(-2);

/// Returns the user who made the file, which lies in `directory`. This is the file's owner, or
/// unknown_user if other users may write to both. Such a user can move a file of the owner into
/// the directory, and give it any content: the owner's files in a directory with a default access
/// list, or of a group with umask 002, are writable to others.
uid_t author_of(const struct stat& file, const struct stat& directory);
/// The same for an open directory. The error is that of fstat().
Result<uid_t> author_of(const File& file, const File& directory);

/// True if this user may follow the link, because this user or root owns it.
bool is_own_link(const struct stat& status);

/// Which two directories a Beside is about, and whose they are: enough to recognise them later. The owners
/// are compared too, because a new directory may get the inode number of a removed one.
struct DirectoryPair {
  FileIdentity outer;
  FileIdentity inner;
  uid_t outer_owner = unknown_user;
  uid_t inner_owner = unknown_user;

  bool operator==(const DirectoryPair&) const = default;
};

/// A directory of ours, `inner`, and the directory `outer` in which it lies. The files in `inner`
/// (containers, notes, decisions) are about files in `outer` or below it.
class Beside {
 public:
  Beside() = default;  ///< nothing is known: nobody is the author of a file there
  Beside(const struct stat& outer, const struct stat& inner)
      : is_known_(true),
        outer_(outer),
        inner_(inner),
        outer_group_(outer.st_mode & S_IRWXG),
        inner_group_(inner.st_mode & S_IRWXG) {}
  /// Looks at two open directories, perhaps opened by O_PATH. Access lists count too. There is no such
  /// function for paths: a neighbour may exchange his directory between the look and the use of its files.
  static Result<Beside> of(const File& outer, const File& inner);
  /// The same for files of ours that lie directly beside the files that they are about: the
  /// directory is both `outer` and `inner`. If it cannot be examined, the result is a default Beside.
  static Beside in(const File& directory);

  /// True if a file that `writer` made in `inner` counts for a file of `owner` in `outer` or below
  /// it.
  [[nodiscard]] bool believes(uid_t writer, uid_t owner) const;
  /// The author of a file in `inner`: its owner, if only he and root may add files there. If the owner of
  /// `outer` alone may add files, he may have moved another user's file there, so he is the author.
  /// unknown_user if others may add files to `inner` who could not have replaced the files in `outer`.
  [[nodiscard]] uid_t author(const struct stat& file) const;
  /// True if this user may keep files in `inner`: other users can do no more to files there than to
  /// files in `outer`.
  [[nodiscard]] bool may_be_used() const;
  /// True if a name in `inner` may cause the removal of a set of `owner`. A user who may write to `inner` can
  /// move other users' files there under any name. So only three kinds of users may write there: `owner`,
  /// root, and users who can remove the files in `outer` anyway.
  [[nodiscard]] bool adders_may_remove(uid_t owner) const;
  /// Returns the Beside for files in closed directories below `outer` (KeptOut). The owner of `outer`, and users who
  /// may write to it, could not have replaced such files.
  [[nodiscard]] Beside for_closed_files() const;

  /// True if `outer` is one directory of several users without a sticky bit, so that each of them may
  /// replace the others' files, and if `inner` is no more open. It then does not matter which of these
  /// users owns a file in `inner`. Never true for closed files.
  [[nodiscard]] bool is_shared_by_all() const;
  /// True if each user who may write to `outer` may also remove files in `inner`, and if `outer` belongs to
  /// `owner` or to root.
  [[nodiscard]] bool writers_may_remove(uid_t owner) const;
  /// Returns the user to whom a file in `inner` is attributed: `writer`, or 0 in a shared
  /// directory, where all writers count as one.
  [[nodiscard]] uid_t voice(uid_t writer) const { return is_shared_by_all() ? 0 : writer; }
  /// True if users beside the owner of `inner` may add files to it.
  [[nodiscard]] bool others_may_add() const;
  /// True if `outer` has an access list.
  [[nodiscard]] bool is_listed_above() const { return has_outer_list_; }
  /// The owner of `outer`.
  [[nodiscard]] uid_t host() const { return outer_.st_uid; }
  /// Which directory `inner` is.
  [[nodiscard]] FileIdentity identity() const { return FileIdentity(inner_); }
  /// Which directory `outer` is.
  [[nodiscard]] FileIdentity outer_identity() const { return FileIdentity(outer_); }
  [[nodiscard]] DirectoryPair directories() const {
    return {outer_identity(), identity(), outer_.st_uid, inner_.st_uid};
  }
  /// True if every user who may write to `inner` may also write to `outer`. If `outer` is sticky, other users
  /// can add files to it but replace none. Then only the owner of `inner` may write to `inner`.
  [[nodiscard]] bool is_no_more_open() const;
  /// False if some users may enter `outer` but not list it, and may list or enter `inner`. Names in `inner` would tell them
  /// the names of files in `outer`.
  [[nodiscard]] bool is_no_more_listed() const;
  /// True if all users who have rights to `inner`, beside its owner, may enter `outer`.
  [[nodiscard]] bool lets_all_enter() const { return lets_all_enter_; }

 private:
  /// True if users may add files to `inner` who could not replace the files in `outer`.
  [[nodiscard]] bool is_open_to_strangers() const;

  bool is_known_ = false;
  bool are_files_closed_ = false;
  struct stat outer_ {};
  struct stat inner_ {};
  mode_t outer_group_ = 0;  ///< rights of the owning group, at the place of the group bits
  mode_t inner_group_ = 0;
  bool has_outer_list_ = false;  ///< `outer` has an access list
  /// The access list of `inner` lets users write to it who may not write to `outer`.
  bool lets_more_write_ = false;
  /// The access list of `inner` gives rights to some user who may not list `outer`.
  bool lets_more_list_ = false;
  /// `inner` lets users write to it to whom the access list of `outer` denies that.
  bool lets_denied_write_ = false;
  /// The access list of `outer` denies write permission to the owner of `inner`.
  bool is_owner_denied_ = false;
  /// The access list of `inner` lets a user or group that it names write to it.
  bool lets_named_write_ = false;
  bool lets_all_enter_ = false;
};

/// True if the file, which lies in the open directory, belongs to `owner`, to root, or to a user who
/// could have replaced files of `owner` there.
bool is_believed_in(const File& directory, const struct stat& file, uid_t owner);

/// The same for the file of another rank at `path`. It may lie in a directory of its own below `base`,
/// which all ranks share. The owner of such a directory is believed only if he could also have replaced
/// the owner's directories in `base`.
bool is_believed_among(const std::string& path, const std::string& base, const struct stat& file,
                       uid_t owner);

/// Returns the status as the kernel gives it, but with the rights of the owning group in the group
/// bits. If there is an access list, the kernel puts the list's mask into the group bits: the most
/// that any named user or group may do.
Result<struct stat> status_with_own_group(const File& directory);

/// True if an access list names users or groups beside owner, group and others.
bool has_access_list(const File& directory);
/// Returns the directory's access list; empty: none. The directory may have been opened by O_PATH.
Bytes access_list_of(const File& directory);
/// True if new files in the directory inherit an access list.
bool has_default_list(const File& directory);

/// Returns the mode, before umask, with which mkdir() should make a directory of ours in `outer`. Group and others may enter
/// it only if they may list `outer`.
mode_t mode_beside(const struct stat& outer);

/// For messages: "user 1000".
std::string user_text(uid_t user);

}  // namespace mcr::restart
