# SPDX-License-Identifier: BSD-3-Clause
"""Files that take their names when they are complete."""
import contextlib
import errno
import os
import stat
import tempfile

from .errors import McrError, UsageError, reason_of

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)  # the file system does not support hard links


def expect_free(*paths, force, checkpoint=None):
    """Raises McrError if a path cannot be that of a new file: a file is there and `force` is not set, or the file belongs to the set."""
    members = _identities(checkpoint.member_files(), (os.stat, os.lstat)) if checkpoint else set()
    for path in paths:
        if not os.path.basename(path):
            raise UsageError(f"{path or repr(path)} is not the name of a file")
        _expect_replaceable(path)
        if members & _identities([path], (os.lstat,)):
            raise McrError(f"{path} is a file of the set itself, so it is not replaced; nothing was written")
        if os.path.lexists(path) and not force:
            raise _exists(path)


def _exists(path):
    return UsageError(f"{path} exists already; --force replaces it")


def _identities(paths, functions):
    found = set()
    for path in paths:
        for function in functions:
            with contextlib.suppress(OSError, ValueError):
                there = function(path)
                found.add((there.st_dev, there.st_ino))
    return found


@contextlib.contextmanager
def new_files(*paths, force):
    """New empty files beside the paths, each as (file that is open for writing, its present name). They take the places of the paths at
    the end. After an exception nothing remains of them, but for those that have replaced a file already. With `force`, a link at a path is
    replaced and not followed: in a directory of several users it may lead anywhere. Without it nothing is replaced. Raises McrError with
    the path of what cannot be written."""
    for path in paths:
        _expect_replaceable(path)
    made, placed = [], []
    try:
        with _reasons(paths[0]):
            for path in paths:
                made.append(_temporary_file(path))
            yield made
        for path, (file, _) in zip(paths, made):
            with _reasons(path):
                file.close()  # writes what is buffered
        for path, (_, temporary) in zip(paths, made):
            with _reasons(path):
                (os.replace if force else _link)(temporary, path)
            placed.append(path)
    except BaseException:
        for path in [] if force else placed:  # what a new file has replaced would not come back
            with contextlib.suppress(OSError):
                os.unlink(path)
        raise
    finally:
        for file, temporary in made:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            with contextlib.suppress(OSError):
                file.close()


@contextlib.contextmanager
def _reasons(path):
    try:
        yield
    except OSError as error:
        raise McrError(f"cannot write {path}: {reason_of(error)}") from None


def _temporary_file(path):
    descriptor, temporary = tempfile.mkstemp(prefix=".mcr-", suffix=os.path.splitext(path)[1], dir=os.path.dirname(os.path.abspath(path)))
    umask = os.umask(0)
    os.umask(umask)
    os.fchmod(descriptor, 0o666 & ~umask)
    return os.fdopen(descriptor, "w+b"), temporary


def _link(temporary, path):
    """Gives the file its name, which no other file may have. Of two processes that do so at the same time, one fails."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise _exists(path) from None
        os.replace(temporary, path)


def _expect_replaceable(path):
    with contextlib.suppress(OSError):  # nothing lies there, or a link that leads nowhere
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise McrError(f"cannot write {path}, because it is no regular file")
