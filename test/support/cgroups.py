# SPDX-License-Identifier: BSD-3-Clause
"""Memory control groups, of both versions, for tests that bound what a job may take."""
import re
from pathlib import Path

from processes import read_bytes


def own_groups():
    """The directories of this process's groups in which a group of ours can be made: version 1, then version 2."""
    root = Path("/sys/fs/cgroup")
    for line in read_bytes("/proc/self/cgroup").decode().splitlines():
        _, controllers, path = line.split(":", 2)
        path = path.lstrip("/")
        if "memory" in controllers.split(","):
            # In a Linux container the path may be the host's.
            yield from (p for p in (root / "memory" / path, root / "memory") if p.is_dir())
        elif not controllers:
            yield from (p for p in (root / path, root) if (p / "cgroup.subtree_control").exists())


def make(name, limit):
    """Returns the group's directory, or None and the reason."""
    why = "there is no memory controller"
    for parent in own_groups():
        group = parent / name
        try:
            group.mkdir()
        except OSError as error:
            why = str(error)
            continue
        try:
            if (group / "memory.limit_in_bytes").exists():
                (group / "memory.limit_in_bytes").write_text(str(limit))
            else:
                (group / "memory.max").write_text(str(limit))
                swap = group / "memory.swap.max"
                if swap.exists():
                    swap.write_text("0")
            return group, ""
        except OSError as error:
            why = str(error)
            group.rmdir()
    return None, why


def kills(group):
    """Returns how many processes of the group the kernel killed because memory was short."""
    text = read_bytes(group / "memory.oom_control") + read_bytes(group / "memory.events")
    found = re.search(r"^oom_kill (\d+)$", text.decode(), re.M)
    return int(found.group(1)) if found else 0


def remove(name):
    for parent in own_groups():
        try:
            (parent / name).rmdir()
        except OSError:
            pass  # not there
