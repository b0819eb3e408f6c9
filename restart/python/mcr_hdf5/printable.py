# SPDX-License-Identifier: BSD-3-Clause
"""Text for terminals: names in checkpoints may have any characters. The same escapes as the command mcr prints (restart/base/printable)."""
import os
import re
import sys

# Controls of ASCII and Latin-1, line separators, characters that reorder text on the screen, and surrogates, which stand for bytes that are no UTF-8.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def printable(text):
    """The text with an escape for each character that a terminal acts upon: \\n, \\t, \\r, or its bytes in octal."""
    return OBEYED.sub(_escape, text)


def _escape(found):
    character = found[0]
    try:
        encoded = character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        encoded = character.encode("utf-8", "surrogatepass")
    return SHORT.get(character) or "".join(f"\\{byte:03o}" for byte in encoded)


def say(text, file=None):
    """Prints a line. A reader of standard output that has ended is no error: nothing more is printed."""
    try:
        print(printable(text), file=file)
    except BrokenPipeError:
        if file is not None:
            raise
        discard_output()


def flush_output():
    """Writes what was printed. What cannot be written is dropped: Python would try again when it ends, and complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        discard_output()


def discard_output():
    """Sends what is printed, also what Python still has to write when it ends, to /dev/null."""
    if sys.stdout is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
