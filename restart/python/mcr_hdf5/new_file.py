# SPDX-License-Identifier: BSD-3-Clause
"""Files that take their names when they are complete."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def new_file(path):
    """The name of a new empty file beside `path`, which takes the place of `path` at the end. A link there is replaced and not
    followed: in a directory of several users it may lead anywhere."""
    descriptor, temporary = tempfile.mkstemp(prefix=".mcr-", suffix=os.path.splitext(path)[1], dir=os.path.dirname(os.path.abspath(path)))
    try:
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(descriptor, 0o666 & ~umask)
        os.close(descriptor)
        yield temporary
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
