# SPDX-License-Identifier: BSD-3-Clause
"""The transform `multiples`, from its spec.md: gives back the numbers before it."""
import math
import struct

from reader_basics import (FLOATING, SIGNED, Bytes, Damaged, bytes_of, ordered, to_float, to_word, unordered,
                           words_of)


def by_step(number, bits, zero, step, base):
    """Form 0: the word of an integer."""
    count = 1 << bits
    at = (number + (zero + base) // step) % count
    short, longer = divmod(count, step)
    # Remainders below `longer` have one quotient more than the others.
    if at < longer * (short + 1):
        remainder, quotient = divmod(at, short + 1)
    else:
        remainder, quotient = divmod(at - longer * (short + 1), short)
        remainder += longer
    return (quotient * step + remainder + (zero + base) % step) % count


class Numbers:
    """Forms 1 and 2."""

    def __init__(self, size, form, scale, origin, slack):
        self.size, self.form, self.scale, self.origin, self.slack = size, form, scale, origin, slack
        self.signed_zero = form == 1 or (origin == 0 and slack == 0)
        self.most = math.floor(2.0 ** ((53 if size == 8 else 24) - 4 - slack) - abs(origin) / scale)
        self.middle = 0x7FF8000000000000 if size == 8 else 0x7FC00000
        self.mask = (1 << 8 * size) - 1

    def multiple(self, k):
        """The word of f(k)."""
        if not self.signed_zero:
            return to_word(k * self.scale + self.origin, self.size)
        magnitude = k if k >= 0 else -1 - k
        word = to_word(magnitude / self.scale if self.form == 1 else magnitude * self.scale, self.size)
        return word if k >= 0 else word | 1 << (8 * self.size - 1)

    def within(self, k):
        return (-1 - self.most if self.signed_zero else -self.most) <= k <= self.most

    def from_nan(self, number):
        """The word of a multiple from k * W + u; None where there is no such k."""
        below = (1 << self.slack) // 2
        k = number + below >> self.slack
        if not self.within(k):
            return None
        return unordered(ordered(self.multiple(k), self.size) + number - (k << self.slack) & self.mask, self.size)

    def to_nan(self, word):
        """k * W + u of a word that is a multiple; None for others."""
        value = to_float(word, self.size)
        if not math.isfinite(value):
            return None
        negative = self.signed_zero and word >> (8 * self.size - 1)
        offset = abs(value) if self.signed_zero else value - self.origin
        steps = offset * self.scale if self.form == 1 else offset / self.scale
        if abs(steps) > 2.0 * self.most + 2:
            return None
        near, below = round(steps), (1 << self.slack) // 2
        for k in (near - 1, near, near + 1):
            k = -1 - k if negative else k
            if self.within(k):
                u = ordered(word, self.size) - ordered(self.multiple(k), self.size)
                if -below <= u < (1 << self.slack) - below:
                    return (k << self.slack) + u
        return None

    def word(self, integer):
        half = 1 << (8 * self.size - 1)
        found = self.from_nan((integer ^ half) - half)
        if found is not None:
            return found
        word = integer + self.middle & self.mask
        number = self.to_nan(word)
        return word if number is None else self.middle + number & self.mask


def multiples(data, layout, parameters):
    size, form, step, base = layout.size, 0, 1, 0
    head = Bytes(parameters)
    if parameters:
        form = head.number(1)
    if form > 2:
        raise Damaged(f"multiples of form {form}")
    if form == 0:
        if parameters:
            step, base = head.varint(), head.varint()
        if layout.kind == FLOATING:
            mask, sign = (1 << 8 * size) - 1, 1 << (8 * size - 1)

            def word_of(integer):
                if integer & sign:
                    return by_step(integer ^ mask, 8 * size - 1, 0, step, base) | sign
                return by_step(integer, 8 * size - 1, 0, step, base)
        else:
            zero = 1 << (8 * size - 1) if layout.kind == SIGNED else 0

            def word_of(integer):
                return by_step(integer, 8 * size, zero, step, base) ^ zero
    else:
        scale, origin, slack = struct.unpack("<d", head.take(8))[0], 0.0, 0
        if form == 2:
            origin, slack = struct.unpack("<d", head.take(8))[0], head.number(1)
        word_of = Numbers(size, form, scale, origin, slack).word
    return bytes_of([word_of(integer) for integer in words_of(data, size)], size)
