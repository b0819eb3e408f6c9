# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstration prints: lines, and on a terminal what is being done just now."""
import sys
import time


def say(text=""):
    print(text, flush=True)


class Progress:
    """One line on a terminal that is overwritten, and erased at the end."""

    def __init__(self, title):
        self.title, self.begun = title, time.monotonic()

    def show(self, text):
        if sys.stdout.isatty():
            print(f"\r\033[K   … {self.title}: {text} ({time.monotonic() - self.begun:.0f} s)", end="", flush=True)

    def __enter__(self):
        self.show("begins")
        return self

    def __exit__(self, *_):
        if sys.stdout.isatty():
            print("\r\033[K", end="", flush=True)


def size(count):
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000


def duration(seconds):
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
