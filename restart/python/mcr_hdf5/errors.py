# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions of the package."""


class McrError(Exception):
    """The message is a sentence for the user: what happened, to which file, and what to do. Further arguments are further lines."""

    def __str__(self):
        return "\n".join(map(str, self.args))


class NotInSetError(McrError, KeyError):
    """The set has no such variable, or the rank has no file in it. A KeyError, so that get() of a Mapping returns its default."""


class UsageError(McrError):
    """The words of a command are wrong. Its exit status is 2."""


def reason_of(error):
    """The reason of an OSError in one line: the system's text, or HDF5's, which has no error number."""
    return " ".join(str(error.strerror or error).split())
