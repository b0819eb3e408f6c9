# SPDX-License-Identifier: BSD-3-Clause
"""Solid frames, written from codecs/frames/spec.md and the pages that it names, and shared with nothing."""
import math
import struct

from reader_basics import (BYTES, Bytes, Damaged, FLOATING, bytes_of, checksum, flat, ordered, read_layout,
                           read_pipeline, reversed_elements, rounded, to_float, to_word, unordered, unzigzag, words_of)
from entropy_blocks import Bits
from library_codecs import zstd
from decode_codecs import coded_sizes, run_pipeline

ORDERS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


def box_of(brick):
    if len(brick) == 4:
        return (brick[0] * brick[1], brick[2], brick[3])
    if len(brick) == 3:
        return tuple(brick)
    if len(brick) == 2:
        return (1, *brick)
    for power, least in ((3, 3), (2, 4)):
        for k in range(least, int(brick[0] ** (1 / power)) + 2):
            if k**power == brick[0]:
                return (k,) * 3 if power == 3 else (1, k, k)
    return (1, 1, brick[0])


def in_order(box, order, n, target):
    """The source's word for word n of the target."""
    strides = (box[1] * box[2], box[2], 1)
    place = (n // target[2] // target[1], n // target[2] % target[1], n % target[2])
    return sum(index * strides[axis] for index, axis in zip(place, ORDERS[order]))


# --- formulas ---------------------------------------------------------------------------------------------------------------


def read_formula(data):
    operations = [data.number(1) for _ in range(data.varint())]
    return operations, [struct.unpack("<d", data.take(8))[0] for _ in range(data.varint())]


def divide(a, b):
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def evaluate(formula, inputs, size):
    """Words of the results."""
    operations, constants = formula
    results = []
    for words in zip(*inputs):
        stack = []
        for operation in operations:
            what, operand = operation & 15, operation >> 4
            if what == 0:
                stack.append(to_float(words[operand], size))
                continue
            if what == 1:
                stack.append(rounded(constants[operand], size))
                continue
            if what == 6:
                a = stack.pop()
                stack.append(rounded(math.sqrt(a), size) if a >= 0 else math.nan)
                continue
            b, a = stack.pop(), stack.pop()
            if what == 7:
                stack.append(a if a > b else b)
            elif what == 8:
                stack.append(a if a < b else b)
            else:
                stack.append(rounded(a + b if what == 2 else a - b if what == 3 else a * b if what == 4 else divide(a, b), size))
        results.append(to_word(stack.pop(), size))
        if stack:
            raise Damaged("formula leaves values")
    return results


# --- word candidates --------------------------------------------------------------------------------------------------------


class RangeDecoder:
    def __init__(self, data):
        self.data, self.low, self.high, self.models = Bytes(data), 0, 0xFFFFFFFF, {}
        self.value = int.from_bytes(self.data.take(4), "big")

    def bit(self, model):
        probability, speed = self.models.get(model, (32768, 0))
        middle = self.low + ((self.high - self.low) * probability >> 16)
        one = self.value <= middle
        if one:
            self.high = middle
        else:
            self.low = middle + 1
        while self.low >> 24 == self.high >> 24:
            self.low, self.high = self.low << 8 & 0xFFFFFFFF, self.high << 8 & 0xFFFFFFFF | 255
            byte = self.data.number(1) if self.data.at < len(self.data.data) else 0
            self.value = self.value << 8 & 0xFFFFFFFF | byte
        rate = speed + 1 if speed < 5 else 5
        step = (65535 if one else 0) - probability
        probability += (abs(step) >> rate) * (1 if step > 0 else -1)
        self.models[model] = (min(max(probability, 32), 65504), min(speed + 1, 5))
        return int(one)

    def tree(self, model, bits):
        node = 1
        for _ in range(bits):
            node = node << 1 | self.bit((model, node))
        return node - (1 << bits)


class Predictor:
    """What the predictions of a brick say of word n."""

    def __init__(self, sources, box, floating, size, done):
        self.sources, self.box, self.floating, self.size, self.done = sources, box, floating, size, done

    def previous(self, n):
        return self.done[n - 1] if n else 0

    def neighbours(self, axes, n):
        a, b, c = self.box
        place = (n // c // b, n // c % b, n % c)
        strides = (b * c, c, 1)
        used = [axis for axis in range(3) if axes >> axis & 1 and place[axis] > 0]
        if not used:
            return self.previous(n)
        at = lambda *which: self.done[n - sum(strides[axis] for axis in which)]
        if len(used) == 1:
            return at(used[0])
        size = self.size
        if self.floating:
            number = lambda *which: to_float(at(*which), size)
            add = lambda x, y: rounded(x + y, size)
        else:
            number, add = at, lambda x, y: x + y
        if len(used) == 2:
            p, q = used
            value = add(add(number(p), number(q)), -number(p, q))
        else:
            value = add(number(0), -number(0, 1))
            value = add(value, add(number(1), -number(1, 2)))
            value = add(value, add(number(2), -number(0, 2)))
            value = add(value, number(0, 1, 2))
        return to_word(value, size) if self.floating else value & (1 << 8 * size) - 1

    def __call__(self, which, n):
        kind, what = self.sources[which]
        if kind == "neighbours":
            return self.neighbours(what, n)
        if kind == "array":
            return what[n]
        m = in_order(self.box, what, n, self.box)
        return self.done[m] if m < n else self.previous(n)


def word_from(predicted, length, low, floating, size):
    """`low`: the bits of the difference below its highest one."""
    mask = (1 << 8 * size) - 1
    difference = 0 if length == 0 else 1 << (length - 1) | low
    base = ordered(predicted, size) if floating else predicted
    word = base + unzigzag(difference) & mask
    return unordered(word, size) if floating else word


def decode_words(payload, bricks, floating, size, sources_of):
    """Words of a section; `sources_of(brick, done)` names a brick's predictions."""
    data = Bytes(payload)
    strong = data.number(1)
    first = data.take(data.varint())
    raw = Bits(data.rest())
    out = []
    if not strong:
        count = sum(math.prod(b) for b in bricks)
        symbols = zstd(first, flat(BYTES, 1, count), b"")
    else:
        coder = RangeDecoder(first)
    last_base, last_length = None, 0
    for number, brick in enumerate(bricks):
        box, count, done = box_of(brick), math.prod(brick), []
        predict = Predictor(sources_of(number, done), box, floating, size, done)
        begin, outcomes = len(out), []
        for n in range(count):
            if not strong:
                which, length = divmod(symbols[begin + n], 8 * size + 1)
                low = raw.take(length - 1) if length > 1 else 0
                done.append(word_from(predict(which, n), length, low, floating, size))
                continue
            candidates = []
            for which in range(len(predict.sources)):
                value = predict(which, n)
                if all(value != other for _, other in candidates):
                    candidates.append((which, value))
            look = lambda back: outcomes[n - back] if n >= back else 0
            context = (look(1) * 5 + look(2)) * 5 + look(box[2])
            exact = next((c for c in candidates if coder.bit(("exact", c[0], context))), None)
            if exact:
                done.append(exact[1])
                outcomes.append(min(exact[0], 2))
                continue
            base_context = 0 if last_base is None else 1 + last_base
            base = next((c for c in candidates[:-1] if coder.bit(("base", c[0], base_context))), candidates[-1])
            length = 1 + coder.tree(("length", min(base[0], 2), last_length // 8), 6)
            below = length - 1
            top = coder.tree(("top", length, base[0] > 0), 3) if below >= 3 else 0
            free = below - 3 if below >= 3 else below
            low = top << free | raw.take(free)
            done.append(word_from(base[1], length, low, floating, size))
            outcomes.append(3 if length <= 12 else 4)
            last_base, last_length = base[0], length
        out += done
    return out


# --- the frame --------------------------------------------------------------------------------------------------------------


def read_prediction(data):
    head = data.number(1)
    kind, detail = head & 3, head >> 2
    if kind == 0:
        return "neighbours", detail
    if kind == 1:
        return "formula", data.varint()
    if kind == 2:
        return "reference", detail, data.varint(), data.zigzag()
    raise Damaged("kind of a prediction")


def read_section(data):
    section = {"layout": read_layout(data), "checksum": data.number(8), "kind": data.number(1)}
    if section["kind"] == 1:
        return section
    section["bytes"] = data.varint()
    if section["kind"] == 0:
        section["pipeline"] = read_pipeline(data)
        section["coded"] = coded_sizes(data, section["pipeline"])
        return section
    section["needs"] = [data.varint() for _ in range(data.varint())]
    section["formulas"] = []
    for _ in range(data.varint()):
        inputs = [data.varint() for _ in range(data.varint())]
        section["formulas"].append((inputs, read_formula(data)))
    section["predictions"] = []
    bricks = len(section["layout"].bricks)
    while len(section["predictions"]) < bricks:
        run = data.varint() + 1
        predictions = [read_prediction(data) for _ in range(data.varint())]
        section["predictions"] += [predictions] * run
    return section


def decode_section(sections, number, payload):
    section = sections[number]
    layout = section["layout"]
    size, floating = layout.size, layout.kind == FLOATING
    if section["kind"] == 0:
        return run_pipeline(payload, layout, section["pipeline"], section["coded"])
    words_in = lambda n: words_of(sections[n]["data"], size)
    needs = [words_in(n) for n in section["needs"]]
    computed = [evaluate(formula, [needs[i] for i in inputs], size) for inputs, formula in section["formulas"]]
    starts = [0]
    for brick in layout.bricks:
        starts.append(starts[-1] + math.prod(brick))
    own = []

    def sources_of(brick, done):
        if brick:
            own.extend(previous[0])
        previous[0] = done
        box, sources = box_of(layout.bricks[brick]), []
        for prediction in section["predictions"][brick]:
            if prediction[0] == "neighbours":
                sources.append(prediction)
            elif prediction[0] == "formula":
                sources.append(("array", computed[prediction[1]][starts[brick] : starts[brick + 1]]))
            else:
                _, order, need, away = prediction
                source = brick + away
                if need == len(needs) and source == brick:
                    sources.append(("partner", order))
                    continue
                bricks = layout.bricks if need == len(needs) else sections[section["needs"][need]]["layout"].bricks
                words = own if need == len(needs) else needs[need]
                begin = sum(math.prod(b) for b in bricks[:source])
                source_box = box_of(bricks[source])
                sources.append(("array", [words[begin + in_order(source_box, order, n, box)]
                                          for n in range(math.prod(box))]))
        return sources

    previous = [[]]
    return bytes_of(decode_words(payload, layout.bricks, floating, size, sources_of), size)


def decode_solid_frame(frame):
    data = Bytes(frame)
    data.take(3)
    raw_bytes, body_bytes = data.varint(), data.varint()
    body = Bytes(data.take(body_bytes))
    if checksum(frame[: data.at]) != data.number(8):
        raise Damaged("solid frame's checksum")
    size, packed = body.varint(), body.varint()
    directory = Bytes(zstd(body.take(packed), flat(BYTES, 1, size), b"") if packed else body.take(size))
    sections = [read_section(directory) for _ in range(directory.varint())]
    order = [directory.varint() for _ in sections]
    joined_bytes = directory.varint()
    joined_payload = body.take(joined_bytes)
    payloads = [body.take(section["bytes"]) if section["kind"] != 1 else b"" for section in sections]
    joined_size = sum(s["layout"].bytes() for s in sections if s["kind"] == 1)
    joined = Bytes(zstd(joined_payload, flat(BYTES, 1, joined_size), b"") if joined_size else b"")
    for number in order:
        section = sections[number]
        if section["kind"] == 1:
            section["data"] = joined.take(section["layout"].bytes())
        else:
            section["data"] = decode_section(sections, number, payloads[number])
    raw = b""
    for section in sections:
        layout, piece = section["layout"], section["data"]
        if layout.big_endian and layout.size > 1:
            piece = reversed_elements(piece, layout.size)
        if checksum(piece) != section["checksum"]:
            raise Damaged("a section's checksum")
        raw += piece
    if len(raw) != raw_bytes:
        raise Damaged("raw size of a solid frame")
    return raw
