# SPDX-License-Identifier: BSD-3-Clause
"""Names in which `{n}` stands for a number."""

N = "{n}"
MOST_STEPS = 1 << 22  # of one comparison; names that need more do not match


def fits(mask, name, literal=False):
    """True if `name` is `mask` with digits in place of each `{n}`; if `literal`, an `{n}` may stand for itself, too. Tries all ways at once,
    so the time is at most proportional to the product of both lengths, whatever the names are. (A regular expression may take exponential
    time, and names may come from another user's file.)"""
    first, *pieces = mask.split(N)
    if not pieces:
        return name == mask
    if not name.startswith(first) or len(mask) * len(name) > MOST_STEPS:
        return False
    ends = {len(first)}  # where the pieces so far may end in the name
    for piece in pieces:
        ends = {at + len(piece) for at in _after_number(name, ends, literal) if name.startswith(piece, at)}
        if not ends:
            return False
    return len(name) in ends


def _after_number(name, begins, literal):
    """Where a number that begins at one of `begins` may end."""
    after = {at + len(N) for at in begins if literal and name.startswith(N, at)}
    is_within = False
    for at in range(min(begins), len(name)):
        is_within = (is_within or at in begins) and name[at] in "0123456789"
        if is_within:
            after.add(at + 1)
    return after
