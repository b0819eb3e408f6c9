# SPDX-License-Identifier: BSD-3-Clause
"""Decoders of all codecs, written from their spec.md files and shared with nothing. Slow and plain: a loop over elements
for each codec. Elements are little-endian between steps."""
import ctypes
import ctypes.util
import math
import struct
import zlib as zlib_module


class Damaged(Exception):
    pass


class Unsupported(Exception):
    pass


def library(name):
    found = ctypes.util.find_library(name)
    if not found:
        raise Unsupported(f"lib{name} is not there")
    return ctypes.CDLL(found)


xxhash = library("xxhash")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    return xxhash.XXH3_64bits(bytes(data), len(data))


class Bytes:
    """Reads from the front of bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("ends too early")
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken

    def rest(self):
        return self.take(len(self.data) - self.at)

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.number(1)
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                if value >> 64:
                    raise Damaged("varint of more than 64 bits")
                return value
        raise Damaged("varint of more than ten bytes")

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def text(self):
        return self.take(self.varint()).decode("utf-8", "surrogateescape")

    def place(self):
        return {"offset": self.varint(), "size": self.varint(), "count": self.varint(), "checksum": self.number(8)}


# --- types, shapes, pipelines -----------------------------------------------------------------------------------------------

BYTES, UNSIGNED, SIGNED, FLOATING = range(4)


class Layout:
    def __init__(self, kind, size, bricks, big_endian=False):
        self.kind, self.size, self.bricks, self.big_endian = kind, size, bricks, big_endian

    def count(self):
        return sum(math.prod(brick) for brick in self.bricks)

    def bytes(self):
        return self.count() * self.size

    def with_type(self, kind, size):
        return Layout(kind, size, self.bricks)


def flat(kind, size, count):
    return Layout(kind, size, [(count,)])


def read_type(data):
    head = data.number(1)
    size = data.varint() if head >> 3 & 15 == 15 else 1 << (head >> 3 & 15)
    return head & 3, size, bool(head & 4)


def read_layout(data):
    kind, size, big_endian = read_type(data)
    bricks = []
    for _ in range(data.varint()):
        run = data.varint()
        brick = tuple(data.varint() for _ in range(run % 4 + 1))
        bricks += [brick] * (run // 4 + 1)
    return Layout(kind, size, bricks, big_endian)


def read_pipeline(data):
    return [(data.number(1), data.take(data.varint())) for _ in range(data.number(1))]


def words_of(data, size):
    return list(struct.unpack(f"<{len(data) // size}{'_BH_I___Q'[size]}", data))


def bytes_of(words, size):
    return struct.pack(f"<{len(words)}{'_BH_I___Q'[size]}", *words)


def reversed_elements(data, size):
    return b"".join(data[i : i + size][::-1] for i in range(0, len(data), size))


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def ordered(word, size):
    top = 1 << (8 * size - 1)
    return word ^ (2 * top - 1) if word & top else word | top


def unordered(word, size):
    top = 1 << (8 * size - 1)
    return word ^ top if word & top else word ^ (2 * top - 1)


FORMATS = {4: ("<I", "<f"), 8: ("<Q", "<d")}


def to_float(word, size):
    integer, floating = FORMATS[size]
    return struct.unpack(floating, struct.pack(integer, word))[0]


def to_word(number, size):
    """The bits of a number after rounding to `size` bytes; a NaN is 0."""
    if number != number:
        return 0
    integer, floating = FORMATS[size]
    try:
        return struct.unpack(integer, struct.pack(floating, number))[0]
    except OverflowError:
        return struct.unpack(integer, struct.pack(floating, math.copysign(math.inf, number)))[0]


def rounded(number, size):
    return number if size == 8 or number != number else to_float(to_word(number, size), size)


# --- entropy blocks ---------------------------------------------------------------------------------------------------------

SEGMENT = 32768


class Bits:
    """Bits of bytes, the lowest first."""

    def __init__(self, data):
        self.value, self.left = int.from_bytes(data, "little"), 8 * len(data)
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > 8 * len(self.data):
            raise Damaged("ends within bits")
        first, last = self.at // 8, (self.at + count + 7) // 8
        value = int.from_bytes(self.data[first:last], "little") >> (self.at % 8) & ((1 << count) - 1)
        self.at += count
        return value


def number_table(data, count):
    bits, numbers = Bits(data.data[data.at :]), []
    while len(numbers) < count:
        width = bits.take(4)
        if width == 0:
            numbers += [0] * (bits.take(4) + 1)
        else:
            numbers.append(1 << (width - 1) | bits.take(width - 1))
    if len(numbers) != count:
        raise Damaged("a run of zeros passes the table's end")
    data.take((bits.at + 7) // 8)
    return numbers


def huffman_stream(lengths):
    codes, code, last = {}, 0, 0
    for length, symbol in sorted((l, s) for s, l in enumerate(lengths) if l):
        code <<= length - last
        last = length
        codes[length, code] = symbol
        code += 1
    if sum(2.0 ** -l for l in lengths if l) != 1:
        raise Damaged("codes are not complete")

    def decode(stream, count):
        bits, symbols = Bits(stream), []
        for _ in range(count):
            code = length = 0
            while (length, code) not in codes or length == 0:
                code, length = code << 1 | bits.take(1), length + 1
            symbols.append(codes[length, code])
        if (bits.at + 7) // 8 != len(stream):
            raise Damaged("bytes behind a stream")
        return symbols

    return decode


def tans_stream(counts, log_states):
    states = 1 << log_states
    if sum(counts) != states:
        raise Damaged("states")
    symbol_of, position = [0] * states, 0
    for symbol, count in enumerate(counts):
        for _ in range(count):
            symbol_of[position] = symbol
            position = (position + states // 2 + states // 8 + 3) % states
    seen, table = list(counts), []
    for state in range(states):
        j = seen[symbol_of[state]]
        seen[symbol_of[state]] += 1
        width = log_states - (j.bit_length() - 1)
        table.append((symbol_of[state], width, (j << width) - states))

    def decode(stream, count):
        bits = Bits(stream)
        while bits.take(1) == 0:
            pass
        state, symbols = bits.take(log_states), []
        for _ in range(count):
            symbol, width, base = table[state]
            symbols.append(symbol)
            state = base + bits.take(width)
        if state != 0 or bits.at != 8 * len(stream):
            raise Damaged("end of a tANS stream")
        return symbols

    return decode


def decode_block(block, count):
    data = Bytes(block)
    method = data.number(1)
    if method == 0:
        symbols = list(data.rest())
        if len(symbols) != count:
            raise Damaged("raw block")
        return symbols
    if method == 1:
        symbols = [data.number(1)] * count
    elif method in (2, 3):
        last = data.number(1)
        log_states = data.number(1) if method == 3 else 0
        numbers = number_table(data, last + 1)
        decode = huffman_stream(numbers) if method == 2 else tans_stream(numbers, log_states)
        sizes = [min(SEGMENT, count - at) for at in range(0, count, SEGMENT)]
        lengths = [[data.number(2) for _ in range(4)] for _ in sizes]
        symbols = []
        for size, four in zip(sizes, lengths):
            for i, length in enumerate(four):
                symbols += decode(data.take(length), size * (i + 1) // 4 - size * i // 4)
    else:
        raise Damaged("method of an entropy block")
    if data.at != len(block):
        raise Damaged("bytes behind a block")
    return symbols


def rest_bits(data, widths):
    """One number of each width, in segments."""
    starts = range(0, len(widths), SEGMENT)
    lengths = [data.number(4) for _ in starts]
    values = []
    for start, length in zip(starts, lengths):
        bits = Bits(data.take(length))
        values += [bits.take(width) for width in widths[start : start + SEGMENT]]
        if (bits.at + 7) // 8 != length:
            raise Damaged("rest bits")
    if data.at != len(data.data):
        raise Damaged("bytes behind the rest bits")
    return values


# --- codecs: each takes payload, layout before it, parameters; gives the bytes before it -----------------------------------


def zstd(data, layout, _):
    size = layout.bytes()
    zstd_library = library("zstd")
    zstd_library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    if zstd_library.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data))) != size:
        raise Damaged("zstd payload")
    return out.raw[:size]


def zlib(data, _, __):
    return zlib_module.decompress(data)


def lz4(data, layout, _):
    source, out = Bytes(data), bytearray()

    def length(nibble):
        total = nibble
        while nibble == 15:
            byte = source.number(1)
            total += byte
            if byte != 255:
                break
        return total

    while source.at < len(data):
        token = source.number(1)
        out += source.take(length(token >> 4))
        if source.at == len(data):
            break
        back = source.number(2)
        if not 0 < back <= len(out):
            raise Damaged("lz4 offset")
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out)


def fpzip(data, layout, parameters):
    raise Unsupported("fpzip needs libfpzip")


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


def lorenzo(data, layout, parameters):
    size, residuals, out, at = layout.size, words_of(data, layout.size), [], 0
    mask, is_float = (1 << 8 * size) - 1, layout.kind == FLOATING
    for number, brick in enumerate(layout.bricks):
        count = math.prod(brick)
        if parameters:
            predictor = parameters[number if len(parameters) > 1 else 0]
        else:
            predictor = 3 + (4 if is_float and size >= 4 else 0)
        box = tuple(brick)
        if len(box) == 1 and predictor & 8 and predictor & 3 >= 2:
            for power in (3, 2):
                k = next((k for k in (round(count ** (1 / power)) + d for d in (-1, 0, 1)) if k >= 2 and k**power == count), 0)
                if k:
                    box = (k,) * power
                    break
        dimensions = min(predictor & 3, len(box))
        floating = bool(predictor & 4) and dimensions >= 2
        # Extents of what is predicted together, slowest first; what lies before stands alone.
        axes = (1, 1, 1, *box)[-3:] if dimensions == 3 else (1, *box[-2:]) if dimensions == 2 else (1, 1, count)
        planes, rows, columns = axes
        done = []
        for i in range(count):
            start = i - i % (planes * rows * columns)
            x, y, z = i % columns, i // columns % rows, (i - start) // columns // rows

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
                done.append(unordered(unzigzag(residuals[at + i]) + predicted & mask, size))
                continue
            predicted = 0
            if dimensions >= 1:
                predicted += near(0, 0, 1)
            if dimensions >= 2:
                predicted += near(0, 1, 0) - near(0, 1, 1)
            if dimensions == 3:
                predicted += near(1, 0, 0) - near(1, 0, 1) - near(1, 1, 0) + near(1, 1, 1)
            done.append(unzigzag(residuals[at + i]) + predicted & mask)
        out += [unordered(word, size) for word in done] if is_float and not floating else done
        at += count
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


def constant(data, layout, _):
    return bytes(data) * layout.count()


def planes(data, layout, _):
    source, size, count = Bytes(data), layout.size, layout.count()
    out = bytearray(size * count)
    for byte in range(size):
        head = source.varint()
        stored = source.take(head // 2)
        out[byte::size] = zstd(stored, flat(BYTES, 1, count), b"") if head % 2 else bytes(decode_block(stored, count))
    if source.at != len(data):
        raise Damaged("bytes behind planes")
    return bytes(out)


def top_bits(data, layout, parameters):
    size, source = layout.size, Bytes(data)
    mantissa = parameters[0] & 15 if parameters else 2
    key_bits = 1 + {2: 5, 4: 8, 8: 11}[size] + mantissa
    low = 8 * size - key_bits
    head = source.number(1)
    table = {i: (source.number(size), 0) for i in range(head & 127)}
    first, key = len(table), -1
    for k in range(source.varint()):
        key = source.varint() if k == 0 else key + 1 + source.varint()
        table[first + k] = (key << low, low)
    if head & 128:
        table[255] = (0, 8 * size)
    symbols = decode_block(source.take(source.varint()), layout.count())
    rests = rest_bits(source, [table.get(s, (0, 0))[1] for s in symbols])
    return bytes_of([table.get(s, (0, 0))[0] | rest for s, rest in zip(symbols, rests)], size)


def grouped_symbols(source, layout):
    firsts = [0]
    for _ in range(source.number(1) - 1):
        firsts.append(source.number(1))
    groups = []
    for _ in firsts:
        count = source.varint()
        groups.append(iter(decode_block(source.take(source.varint()), count)))
    symbols = []
    for brick in layout.bricks:
        start, columns = len(symbols), brick[-1] if len(brick) > 1 else 0
        for i in range(math.prod(brick)):
            before = symbols[-1] if symbols else 0
            above = symbols[start + i - columns] if columns and i >= columns else before
            context = (before + above) // 2
            group = max(j for j, f in enumerate(firsts) if f <= context)
            try:
                symbols.append(next(groups[group]))
            except StopIteration:
                raise Damaged("a group ends") from None
    return symbols


def class_coder(data, layout, parameters):
    size, source = layout.size, Bytes(data)
    if parameters and parameters[0] & 2:
        symbols = grouped_symbols(source, layout)
    else:
        symbols = decode_block(source.take(source.varint()), layout.count())
    top = {1: 8, 2: 4, 4: 3, 8: 2}[size]

    def parts(symbol):
        above = symbol >> top
        if size == 1 or above == 0:
            return symbol, 0
        if above + top > 8 * size:
            return 0, 0
        return (1 << top | symbol & ((1 << top) - 1)) << (above - 1), above - 1

    table = [parts(symbol) for symbol in range(256)]
    rests = rest_bits(source, [table[s][1] for s in symbols])
    return bytes_of([table[s][0] | rest for s, rest in zip(symbols, rests)], size)


TAPS = {
    1: [(0, 0, -k) for k in range(1, 13)],
    2: [(0, 0, -1), (0, 0, -2), (0, 0, -3), (0, -1, -2), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, -1, 2), (0, -2, -1),
        (0, -2, 0), (0, -2, 1), (0, -3, 0)],
    3: [(0, 0, -1), (0, 0, -2), (0, -1, -1), (0, -1, 0), (0, -1, 1), (0, -2, 0), (-1, 0, -1), (-1, 0, 0), (-1, 0, 1),
        (-1, -1, 0), (-1, 1, 0), (-1, -1, -1)],
}


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


def fpc(data, layout, parameters):
    count, mask = layout.count(), (1 << 64) - 1
    slots = (1 << (parameters[0] if parameters else 16)) - 1
    source = Bytes(data)
    codes = source.take((count + 1) // 2)
    f, d, f_hash, d_hash, last, out = {}, {}, 0, 0, 0, []
    for i in range(count):
        code = codes[i // 2] >> (4 if i % 2 == 0 else 0) & 15
        zeros = code & 7
        zeros += zeros >= 4
        predicted = d.get(d_hash, 0) + last & mask if code & 8 else f.get(f_hash, 0)
        value = source.number(8 - zeros) ^ predicted
        f[f_hash] = value
        f_hash = (f_hash << 6 ^ value >> 48) & slots
        difference = value - last & mask
        d[d_hash] = difference
        d_hash = (d_hash << 2 ^ difference >> 40) & slots
        last = value
        out.append(value)
    if source.at != len(data):
        raise Damaged("bytes behind fpc")
    return bytes_of(out, 8)


def entropy(data, layout, _):
    return bytes(decode_block(data, layout.bytes()))


def records(data, layout, parameters):
    head, source, count = Bytes(parameters), Bytes(data), layout.count()
    columns = [((BYTES, layout.size, False), 1, [])]
    if parameters:
        columns = [(read_type(head), head.varint(), read_pipeline(head)) for _ in range(head.varint())]
    out, at = bytearray(layout.bytes()), 0
    for (kind, size, big_endian), members, wanted in columns:
        bricks = layout.bricks
        if members > 1:
            bricks = [((b[0] * b[1], *b[2:]) if len(b) == 4 else b) + (members,) for b in bricks]
        column = Layout(kind, size, bricks)
        width = size * members
        how = source.number(1)
        if how == 0:
            raw = source.take(count * width)
        else:
            pipeline = read_pipeline(source) if how == 2 else wanted
            coded = coded_sizes(source, pipeline)
            raw = run_pipeline(source.take(source.varint()), column, pipeline, coded)
        if big_endian:
            raw = reversed_elements(raw, size)
        for byte in range(width):
            out[at + byte :: layout.size] = raw[byte::width]
        at += width
    if source.at != len(data):
        raise Damaged("bytes behind records")
    return bytes(out)


def dictionary(data, layout, _):
    source, size, mask = Bytes(data), layout.size, (1 << 8 * layout.size) - 1
    count = source.varint()
    table, last = words_of(planes(source.take(source.varint()), flat(UNSIGNED, size, count), b""), size), 0
    for i, difference in enumerate(table):
        table[i] = last = last + difference & mask
    if layout.kind == FLOATING:
        table = [unordered(word, size) for word in table]
    differences = source.number(1)
    width = 1 if count <= 256 else 2
    numbers, last = words_of(planes(source.rest(), flat(UNSIGNED, width, layout.count()), b""), width), 0
    if differences:
        for i, number in enumerate(numbers):
            numbers[i] = last = last + unzigzag(number) & (1 << 8 * width) - 1
    return bytes_of([table[number] for number in numbers], size)


# number: (name, decoder, is a coder)
CODECS = {
    1: ("zstd", zstd, True), 2: ("zlib", zlib, True), 3: ("lz4", lz4, True), 4: ("fpzip", fpzip, True),
    5: ("transpose", transpose, False), 6: ("delta", delta, False), 7: ("zigzag", zigzag, False),
    8: ("ordered_int", ordered_int, False), 9: ("lorenzo", lorenzo, False), 10: ("structure_split", structure_split, False),
    11: ("constant", constant, True), 12: ("planes", planes, True), 13: ("top_bits", top_bits, True),
    14: ("class_coder", class_coder, True), 15: ("stencil", stencil, False), 16: ("fpc", fpc, True),
    17: ("entropy", entropy, True), 18: ("records", records, True), 19: ("dictionary", dictionary, True),
}


def after_transform(name, layout, parameters):
    """What a transform leaves for the next step."""
    if name == "transpose":
        return flat(BYTES, 1, layout.bytes())
    if name == "delta":
        return layout.with_type(SIGNED, layout.size)
    if name == "structure_split":
        bricks = []
        for brick, (members, size) in zip(layout.bricks, split_members(layout, parameters)):
            bricks += [brick if parameters or members == 1 else brick[:-1]] * members
        kind = parameters[0] >> 4 & 3 if parameters else layout.kind
        return Layout(kind, 1 << (parameters[0] & 3) if parameters else layout.size, bricks)
    return layout.with_type(UNSIGNED, layout.size)


def coded_sizes(data, pipeline):
    for codec, _ in pipeline:
        if codec not in CODECS:
            raise Unsupported(f"codec {codec}")
    return [data.varint() for codec, _ in pipeline[:-1] if CODECS[codec][2]]


def run_pipeline(payload, layout, pipeline, coded):
    layouts, sizes = [layout], list(coded)
    for codec, parameters in pipeline[:-1]:
        name, _, coder = CODECS[codec]
        layouts.append(flat(BYTES, 1, sizes.pop(0)) if coder else after_transform(name, layouts[-1], parameters))
    for (codec, parameters), before in zip(reversed(pipeline), reversed(layouts)):
        payload = CODECS[codec][1](payload, before, parameters)
        if len(payload) != before.bytes():
            raise Damaged(f"size of {CODECS[codec][0]}'s output")
    return payload
