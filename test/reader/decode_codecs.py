# SPDX-License-Identifier: BSD-3-Clause
"""Decoders of all codecs, written from their spec.md files and shared with nothing. Slow and plain: a loop over elements
for each codec. Elements are little-endian between steps. Here: the table of codecs, and pipelines of them."""
from reader_basics import (BYTES, Bytes, Damaged, Layout, SIGNED, UNSIGNED, Unsupported, flat, read_pipeline,
                           read_type, reversed_elements)
from library_codecs import fpzip, lz4, zlib, zstd
from transforms import delta, lorenzo, ordered_int, split_members, stencil, structure_split, transpose, zigzag
from multiples import multiples
from coders import class_coder, constant, dictionary, entropy, fpc, planes, top_bits


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


# number: (name, decoder, is a coder)
CODECS = {
    1: ("zstd", zstd, True), 2: ("zlib", zlib, True), 3: ("lz4", lz4, True), 4: ("fpzip", fpzip, True),
    5: ("transpose", transpose, False), 6: ("delta", delta, False), 7: ("zigzag", zigzag, False),
    8: ("ordered_int", ordered_int, False), 9: ("lorenzo", lorenzo, False), 10: ("structure_split", structure_split, False),
    11: ("constant", constant, True), 12: ("planes", planes, True), 13: ("top_bits", top_bits, True),
    14: ("class_coder", class_coder, True), 15: ("stencil", stencil, False), 16: ("fpc", fpc, True),
    17: ("entropy", entropy, True), 18: ("records", records, True), 19: ("dictionary", dictionary, True),
    20: ("multiples", multiples, False),
}


def after_transform(name, layout, parameters):
    """What a transform leaves for the next step."""
    if name == "transpose":
        return flat(BYTES, 1, layout.bytes())
    if name in ("delta", "multiples"):
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
