# SPDX-License-Identifier: BSD-3-Clause
"""Deadlines that a busy machine does not exceed.

If more processes want to run than there are processors, everything takes longer by that factor. A Deadline counts
seconds of a machine that is not overloaded: while the load is twice the number of processors, a second counts half. A
second counts at least a sixth, so that a process that hangs is ended on any machine.
"""
import os
import time

from build_config import PATIENCE

LONGEST = 6


def slowness():
    """How many times longer things take now than on a free machine."""
    try:
        running = float(os.getloadavg()[0])
    except OSError:
        return 1
    return min(max(running / len(os.sched_getaffinity(0)), 1), LONGEST)


class Deadline:
    """Is over after `seconds` of a free machine. Ask often, because the time between two questions counts by the load
    at the second one."""

    def __init__(self, seconds):
        self.begun = self.seen = time.monotonic()
        self.left = seconds * PATIENCE

    def is_over(self):
        now = time.monotonic()
        self.left -= (now - self.seen) / slowness()
        self.seen = now
        return self.left <= 0

    def passed(self):
        """Seconds by the clock, for messages."""
        return time.monotonic() - self.begun


def wait_for(child, seconds):
    """Waits for a subprocess.Popen; returns False if it still runs at the deadline."""
    deadline = Deadline(seconds)
    pause = 0.001
    while child.poll() is None:
        if deadline.is_over():
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return True
