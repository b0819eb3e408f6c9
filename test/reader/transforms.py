# SPDX-License-Identifier: BSD-3-Clause
"""Transforms, from their spec.md files: each gives back the bytes before it."""
import math
import struct

from reader_basics import (Damaged, FLOATING, SIGNED, bytes_of, ordered, rounded, to_float, to_word, unordered, unzigzag,
                           words_of)
from coders import TAPS, planes


def transpose(data, layout, parameters):
    size = parameters[0] if parameters else layout.size
    count = len(data) // size
    out = bytearray(len(data))
    for byte in range(size):
        out[byte : count * size : size] = data[byte * count : (byte + 1) * count]
    out[count * size :] = data[count * size :]
    return bytes(out)


def delta(data, layout, _):
    words, mask, last = words_of(data, layout.size), (1 << 8 * layout.size) - 1, 0
    for i, word in enumerate(words):
        words[i] = last = last + word & mask
    return bytes_of(words, layout.size)


def zigzag(data, layout, _):
    mask = (1 << 8 * layout.size) - 1
    return bytes_of([unzigzag(word) & mask for word in words_of(data, layout.size)], layout.size)


def ordered_int(data, layout, _):
    words, size = words_of(data, layout.size), layout.size
    if layout.kind == FLOATING:
        words = [unordered(word, size) for word in words]
    elif layout.kind == SIGNED:
        words = [word ^ 1 << (8 * size - 1) for word in words]
    return bytes_of(words, size)


def lorenzo_predictors(layout, parameters):
    """Of each brick."""
    binary32_or_64 = layout.kind == FLOATING and layout.size >= 4
    if not parameters:
        return [3 + 4 * binary32_or_64] * len(layout.bricks)
    if len(parameters) not in (1, len(layout.bricks)):
        raise Damaged("number of predictors")
    for predictor in parameters:
        dimensions, order = predictor & 3, (predictor >> 4 & 3) + 1
        if predictor >> 6 or order > (1, 4, 2, 2)[dimensions]:
            raise Damaged(f"predictor {predictor}")
        if predictor & 4 and not binary32_or_64:
            raise Damaged("predictor in floating point")
    return parameters if len(parameters) > 1 else [parameters[0]] * len(layout.bricks)


def lorenzo_axes(brick, predictor):
    """Dimensions after the cut to the rank, and the extents of what is predicted together, slowest first."""
    count, box = math.prod(brick), tuple(brick)
    if len(box) == 1 and predictor & 8 and predictor & 3 >= 2:
        for power in (3, 2):
            k = next((k for k in (round(count ** (1 / power)) + d for d in (-1, 0, 1)) if k >= 2 and k**power == count), 0)
            if k:
                box = (k,) * power
                break
    dimensions = min(predictor & 3, len(box))
    return dimensions, box[-3:] if dimensions == 3 else (1, *box[-2:]) if dimensions == 2 else (1, 1, count)


def lorenzo_of_order_1(residuals, size, dimensions, axes, floating):
    mask, done = (1 << 8 * size) - 1, []
    planes, rows, columns = axes
    for i, residual in enumerate(residuals):
        x, y, z = i % columns, i // columns % rows, i // columns // rows % planes

        def near(dz, dy, dx):
            if dz > z or dy > y or dx > x:
                return 0
            return done[i - (dz * rows + dy) * columns - dx]

        if floating:
            left, up, up_left = (to_float(near(*d), size) for d in ((0, 0, 1), (0, 1, 0), (0, 1, 1)))
            step = rounded(up - up_left, size)
            if dimensions == 3:
                back = rounded(to_float(near(1, 0, 0), size) - to_float(near(1, 0, 1), size), size)
                back_up = rounded(to_float(near(1, 1, 0), size) - to_float(near(1, 1, 1), size), size)
                step = rounded(step + rounded(back - back_up, size), size)
            predicted = ordered(to_word(left + step, size), size)
            done.append(unordered(unzigzag(residual) + predicted & mask, size))
            continue
        predicted = 0
        if dimensions >= 1:
            predicted += near(0, 0, 1)
        if dimensions >= 2:
            predicted += near(0, 1, 0) - near(0, 1, 1)
        if dimensions == 3:
            predicted += near(1, 0, 0) - near(1, 0, 1) - near(1, 1, 0) + near(1, 1, 1)
        done.append(unzigzag(residual) + predicted & mask)
    return done


def continued(base, near, fit):
    """F of numbers, the nearest first."""
    if not near:
        return base
    level = fit(base + near[0])
    first = [fit(a - b) for a, b in zip(near, near[1:])]
    if not first:
        return level
    straight = fit(level + first[0])
    if len(near) == 2:
        return straight
    second = fit(first[0] - first[1])
    if len(near) == 3:
        return fit(straight + second)
    third = fit(first[0] - fit(first[1] + fit(first[1] - first[2])))
    return fit(straight + fit(second + third))


def lorenzo_of_higher_order(residuals, size, order, axes, floating):
    mask, done, numbers, past_planes, past_rows = (1 << 8 * size) - 1, [], [], [], []
    planes, rows, columns = axes

    def fit(number):
        return rounded(number, size) if floating else number & mask

    def rest(number, predicted):
        difference = fit(number - predicted)
        return 0.0 if floating and not math.isfinite(difference) else difference

    def going_on(base, values, i, place, stride):
        return continued(base, [values[i - k * stride] for k in range(1, min(order, place) + 1)], fit)

    for i, residual in enumerate(residuals):
        x, y, z = i % columns, i // columns % rows, i // columns // rows % planes
        by_planes = going_on(0.0 if floating else 0, numbers, i, z, rows * columns)
        by_rows = going_on(by_planes, past_planes, i, y, columns)
        predicted = going_on(by_rows, past_rows, i, x, 1)
        if floating:
            done.append(unordered(unzigzag(residual) + ordered(to_word(predicted, size), size) & mask, size))
            numbers.append(to_float(done[-1], size))
        else:
            done.append(unzigzag(residual) + predicted & mask)
            numbers.append(done[-1])
        past_planes.append(rest(numbers[-1], by_planes))
        past_rows.append(rest(numbers[-1], by_rows))
    return done


def lorenzo(data, layout, parameters):
    size, residuals, out, at = layout.size, words_of(data, layout.size), [], 0
    for brick, predictor in zip(layout.bricks, lorenzo_predictors(layout, parameters)):
        of_brick, order = residuals[at : at + math.prod(brick)], (predictor >> 4 & 3) + 1
        dimensions, axes = lorenzo_axes(brick, predictor)
        floating = bool(predictor & 4) and (dimensions >= 2 or order > 1)
        if order == 1:
            done = lorenzo_of_order_1(of_brick, size, dimensions, axes, floating)
        else:
            done = lorenzo_of_higher_order(of_brick, size, order, axes, floating)
        out += [unordered(word, size) for word in done] if layout.kind == FLOATING and not floating else done
        at += len(of_brick)
    return bytes_of(out, size)


def split_members(layout, parameters):
    """Of each brick: members, bytes of one."""
    if parameters:
        size = 1 << (parameters[0] & 3)
        return [(layout.size // size, size) for _ in layout.bricks]
    return [(b[-1] if len(b) >= 2 and 2 <= b[-1] <= 16 else 1, layout.size) for b in layout.bricks]


def structure_split(data, layout, parameters):
    out, at = [], 0
    for brick, (members, size) in zip(layout.bricks, split_members(layout, parameters)):
        length = math.prod(brick) * layout.size
        count = length // size // members
        for i in range(count):
            for member in range(members):
                begin = at + (member * count + i) * size
                out.append(data[begin : begin + size])
        at += length
    return b"".join(out)


def stencil(data, layout, parameters):
    size, residuals, out, at = layout.size, words_of(data, layout.size), [], 0
    mask = (1 << 8 * size) - 1
    if parameters:
        rank, coefficients = parameters[0], struct.unpack("<12d", parameters[1:])
    else:
        rank = min(len(layout.bricks[0]), 3) if layout.bricks else 1
        coefficients = [(1 if sum(map(abs, tap)) % 2 else -1) if all(-1 <= s <= 0 for s in tap) else 0 for tap in TAPS[rank]]
    for brick in layout.bricks:
        count = math.prod(brick)
        box = (1, 1, *brick[-2:]) if len(brick) > 1 else (1, 1, 1, *brick)
        rows, columns = box[-2:]
        planes_count = count // (rows * columns) if count else 0
        extents = (planes_count, rows, columns)
        done = []
        for i in range(count):
            place = (i // columns // rows, i // columns % rows, i % columns)
            inner = min(len(brick), 3) == rank and all(
                0 <= place[axis] + tap[axis] < extents[axis] for tap in TAPS[rank] for axis in range(3))
            if inner:
                total = 0.0
                for c, (z, y, x) in zip(coefficients, TAPS[rank]):
                    total += c * to_float(done[i + (z * rows + y) * columns + x], size)
                predicted = to_word(total, size)
            else:
                predicted = done[-1] if done else 0
            done.append(unordered(unzigzag(residuals[at + i]) + ordered(predicted, size) & mask, size))
        out += done
        at += count
    return bytes_of(out, size)
