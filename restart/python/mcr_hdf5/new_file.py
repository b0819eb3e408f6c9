# SPDX-License-Identifier: BSD-3-Clause
"""Files that take their names when they are complete."""
import contextlib
import os
import stat
import tempfile

from .errors import McrError


@contextlib.contextmanager
def new_file(path):
    """A new empty file beside `path`, open for writing, and its present name. It takes the place of `path` at the end. A link there is
    replaced and not followed: in a directory of several users it may lead anywhere."""
    _expect_replaceable(path)
    descriptor, temporary = tempfile.mkstemp(prefix=".mcr-", suffix=os.path.splitext(path)[1], dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(descriptor, "w+b") as file:
            umask = os.umask(0)
            os.umask(umask)
            os.fchmod(descriptor, 0o666 & ~umask)
            yield file, temporary
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def name_to_write(file, name):
    """For what opens files by name. It leads to the open file even if somebody has replaced the file by a link."""
    found = f"/proc/self/fd/{file.fileno()}"
    return found if os.path.exists(found) else name


def _expect_replaceable(path):
    with contextlib.suppress(OSError):  # nothing lies there, or a link that leads nowhere
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise McrError(f"cannot write {path}, because it is no regular file")
