// SPDX-License-Identifier: BSD-3-Clause
// Mode, group and access list of a directory of ours, which is no more open than the directory above it. Users who may
// not write, enter or list the directory above may not do so in ours.
#pragma once

#include <sys/types.h>

#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Returns the mode for mkdir(). If the new directory inherits an access list, the list decides the
/// rights of named users and groups; the group bits of the mode then limit these rights.
Result<mode_t> mode_of_new(const File& parent);

/// True if the directory has no file. False also if the directory cannot be listed.
bool is_empty(const File& directory);

/// Gives the owner of a directory that was just made all rights to it. A umask may have taken them.
void let_owner_enter(const File& parent, const std::string& name);

/// Gives a new directory the group of the directory above, if that group may list the directory above and others may
/// not, and if this user may set the group.
void let_group_enter(const File& parent, const File& directory);

/// True if the directory was born at `moment` or later, or if the file system does not record birth times.
bool is_born_since(const File& directory, const struct timespec& moment);

/// True if mcr may change the mode of this user's directory `directory` in `parent`. False if other users can have
/// renamed another directory of this user's to its name, or moved one there. Its birth time tells: nobody has renamed it if `parent` was not
/// changed since, and a directory that is at most three seconds old counts as one that mcr has just made. Without birth
/// times, every directory counts as new.
bool may_be_changed(const File& parent, const File& directory);

/// Closes an empty directory of this user that is more open than `parent`: takes access lists and permissions. An
/// inherited list can have made it so open. Only empty directories are closed. In a directory with files, files of
/// other users would look like this user's afterwards; and another directory may lie in the place of ours. The directory stays as
/// it is if it may not be changed (may_be_changed()). EPERM: another user has put a file into it meanwhile.
Result<void> close_as_far(const File& parent, const File& directory);

/// Closes a directory of this user to all users who may not enter the directory above. They may have opened it before
/// the directory above was closed. The directory takes the access list of the directory above, if
/// that is enough; else it is closed to all other users. It stays as it is if others may write to it, or if it may
/// not be changed (may_be_changed()) and holds no files of mcr.
Result<void> close_as_entered(const File& parent, const File& directory);

}  // namespace mcr::restart
