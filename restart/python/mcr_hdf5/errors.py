# SPDX-License-Identifier: BSD-3-Clause
"""The one exception of the package."""


class McrError(Exception):
    """The message is a sentence for the user: what happened, to which file, and what to do."""
