# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of containers, written from docs/format.md and shared with nothing: where it and the product disagree, one of
them, or the page, is wrong.

    python3 read_container.py CONTAINER [DIRECTORY]    lists the parts, or writes them below DIRECTORY

Frames of every codec but fpzip (which is libfpzip's), solid frames, plain chunks. Python's standard library, and
libxxhash and libzstd through ctypes.
"""
import struct
import sys
import zlib
from pathlib import Path

from reader_basics import (BYTES, Bytes, Damaged, Layout, Unsupported, checksum, read_layout, read_pipeline,
                           reversed_elements)
from transforms import transpose
from decode_codecs import coded_sizes, run_pipeline
from decode_solid import decode_solid_frame

# --- frames -----------------------------------------------------------------------------------------------------------------


def decode_frame(frame, raw_bytes=None):
    """A plain or solid frame; `raw_bytes`: how many are expected."""
    data = Bytes(frame)
    if data.number(1) != 0x6D:
        raise Damaged("no frame")
    version, kind = data.number(1), data.number(1)
    if version != 1 or kind not in (0, 2):
        raise Unsupported(f"frame of version {version}, kind {kind}")
    if kind == 2:
        payload = decode_solid_frame(frame)
        if raw_bytes is not None and len(payload) < raw_bytes:
            raise Damaged("raw size")
        return payload if raw_bytes is None else payload[:raw_bytes]
    layout = read_layout(data)
    if raw_bytes is not None and layout.bytes() != raw_bytes:
        raise Damaged("raw size")
    pipeline = read_pipeline(data)
    coded = coded_sizes(data, pipeline)
    payload_bytes = data.varint()
    raw_checksum = data.number(8)
    payload = data.take(payload_bytes)
    covered = data.at
    if data.number(8) != checksum(frame[:covered]):
        raise Damaged("frame's checksum")
    if pipeline:
        payload = run_pipeline(payload, layout, pipeline, coded)
        if layout.big_endian and layout.size > 1:
            payload = reversed_elements(payload, layout.size)
    if checksum(payload) != raw_checksum:
        raise Damaged("raw checksum")
    return payload


def decode_plain_chunk(stored, element, chunk_bytes, raw_bytes):
    chunk = zlib.decompress(stored)
    if len(chunk) != chunk_bytes:
        raise Damaged("plain chunk")
    if element > 1:
        chunk = transpose(chunk, Layout(BYTES, element, [(len(chunk) // element,)]), b"")
    return chunk[:raw_bytes]


# --- the container ----------------------------------------------------------------------------------------------------------

SKELETONS = 1
NONE = 0xFFFFFFFF


class Container:
    def __init__(self, path):
        self.file = Path(path).read_bytes()
        self.frames_read = {}
        block = self.file[:512]
        if block[:16] != b"mcr-container\r\n\x1a":
            raise Damaged("no container")
        version, = struct.unpack_from("<I", block, 16)
        offset, size, directory_size, directory_checksum, own = struct.unpack_from("<5Q", block, 36)
        if own != checksum(block[:68]):
            raise Damaged("user block's checksum")
        if version not in (1, 2):
            raise Unsupported(f"container of version {version}")
        self.index = self.file[offset : offset + size]
        directory = self.index[:directory_size]
        if checksum(directory) != directory_checksum:
            raise Damaged("directory's checksum")
        self.read_directory(Bytes(directory))

    def read_later_fields(self, fields):
        """Of the set; the first builds' containers end before them."""
        self.begun = self.order = 0
        self.failed, self.natives = [], []
        if fields.at < len(fields.data):
            self.begun = fields.number(8)
            self.failed = [fields.varint() for _ in range(fields.varint())]
            self.drifted = fields.varint() & 1
            self.natives = [(fields.varint(), fields.text(), *(fields.varint() for _ in range(3))) for _ in range(fields.varint())]
        if fields.at < len(fields.data):
            self.order = fields.number(8)
        self.bundled = []
        if fields.at < len(fields.data):
            self.bundled = [(fields.text(), fields.varint(), fields.number(8), fields.number(8)) for _ in range(fields.varint())]
        self.failed_attempts = None
        if fields.at < len(fields.data):
            self.failed_attempts = fields.varint(), fields.varint()
        self.amended_by = fields.text() if fields.at < len(fields.data) else ""
        if self.amended_by:
            self.failed_attempts = None
        self.order = self.order or self.begun or self.created

    def read_directory(self, data):
        fields = Bytes(data.take(data.number(4)))
        self.masked_name, self.launch = fields.text(), fields.text()
        self.sequence, self.rank_count = fields.varint(), fields.varint()
        self.passed = [fields.varint() for _ in range(fields.varint())]
        self.scheme, self.profile, self.writer = fields.text(), fields.text(), fields.text()
        self.created = fields.number(8)
        self.read_later_fields(fields)
        self.skeletons = data.number(4)
        datasets, frames, names, parts = (data.place() for _ in range(4))
        self.frames = [dict(zip(("offset", "stored", "raw", "checksum"), struct.unpack("<QIIQ", record)))
                       for record in self.records(frames, 1, 24, 256)]
        names = self.at(names)
        self.datasets = []
        for record in self.records(datasets, 2, 44, 64):
            raw, first, count, chunk, element, name, length, name_sum, kind, storage, _ = struct.unpack("<QQIIIIIIBBH", record)
            name = names[name : name + length]
            if checksum(name) & NONE != name_sum:
                raise Damaged("name's checksum")
            self.datasets.append({"name": name.decode(), "raw": raw, "first": first, "count": count, "chunk": chunk,
                                  "element": element, "kind": kind, "storage": storage})
        self.parts = self.read_parts(parts)

    def at(self, place, check=False):
        data = self.index[place["offset"] : place["offset"] + place["size"]]
        if len(data) != place["size"]:
            raise Damaged("table behind the index")
        if check and checksum(data) != place["checksum"]:
            raise Damaged("table's checksum")
        return data

    def records(self, place, table, size, a_page):
        data = Bytes(self.at(place))
        left, page = place["count"], 0
        while left:
            here = min(left, a_page)
            whole = data.data[data.at : data.at + 8 + here * size]
            if data.number(4) != table or data.number(4) != page:
                raise Damaged("page of another table")
            yield from (data.take(size) for _ in range(here))
            if data.number(8) != checksum(whole):
                raise Damaged("page's checksum")
            left, page = left - here, page + 1

    def read_parts(self, place):
        data = Bytes(self.at(place, check=True))
        parts = []
        for _ in range(place["count"]):
            parts.append({"id": data.take(16).hex(), "rank": data.varint(), "path": data.text(), "size": data.varint(),
                          "checksum": data.number(8), "mode": data.varint(), "skeleton": data.varint(),
                          "skeleton size": data.varint(), "base": data.number(4), "pages": data.place()})
        return parts

    def entries(self, part):
        """(length, dataset, frame, offset), or (length, None, 0, position in the skeleton)."""
        table = Bytes(self.at(part["pages"], check=True))
        for _ in range(part["pages"]["count"]):
            table.varint()
            place = table.place()
            page = Bytes(self.at(place, check=True))
            position = page.varint()
            dataset = frame = offset = 0
            ends = {}
            for _ in range(place["count"]):
                head = page.varint()
                length, kind = head >> 2, head & 3
                if kind == 1:
                    yield length, None, 0, position
                    position += length
                    continue
                dataset += page.zigzag()
                if kind == 0:
                    frame += page.zigzag()
                    offset += page.zigzag()
                elif kind == 2:
                    frame, offset = ends[dataset]
                else:
                    raise Damaged("kind of a map entry")
                yield length, dataset, frame, offset
                ends[dataset] = frame, offset + length

    def frame(self, dataset, number):
        entry = self.datasets[dataset]
        if number >= entry["count"]:
            raise Damaged("no such frame")
        key = entry["first"] + number
        if key not in self.frames_read:
            place = self.frames[key]
            stored = self.file[place["offset"] : place["offset"] + place["stored"]]
            if len(stored) != place["stored"] or checksum(stored) != place["checksum"]:
                raise Damaged(f"stored frame {number} of {entry['name']}")
            if entry["storage"] == 1:
                self.frames_read[key] = decode_plain_chunk(stored, entry["element"], entry["chunk"], place["raw"])
            else:
                self.frames_read[key] = decode_frame(stored, place["raw"])
        return self.frames_read[key]

    def read(self, dataset, frame, offset, length):
        out = b""
        while length:
            raw = self.frame(dataset, frame)
            if offset >= len(raw):
                offset -= len(raw)
            else:
                piece = raw[offset : offset + length]
                out += piece
                length -= len(piece)
                offset = 0
            frame += 1
        return out

    def read_skeleton(self, part, position, length):
        at = part["skeleton"] + position
        chunk = self.datasets[self.skeletons]["chunk"]
        return self.read(self.skeletons, at // chunk, at % chunk, length)

    def read_part(self, part):
        out = bytearray()
        for length, dataset, frame, offset in self.entries(part):
            if dataset is not None:
                out += self.read(dataset, frame, offset, length)
                continue
            piece = bytearray(self.read_skeleton(part, offset, length))
            if part["base"] != NONE:
                base = self.parts[part["base"]]
                common = max(0, min(length, base["skeleton size"] - offset))
                for i, byte in enumerate(self.read_skeleton(base, offset, common)):
                    piece[i] ^= byte
            out += piece
        if len(out) != part["size"] or checksum(out) != part["checksum"]:
            raise Damaged(f"part of rank {part['rank']}")
        return bytes(out)


def main(path, directory=None):
    container = Container(path)
    print(f"{container.masked_name}, launch {container.launch}, sequence {container.sequence}, {container.scheme}, {container.profile}")
    for part in container.parts:
        print(f"rank {part['rank']}: {part['path']}, {part['size']} bytes")
        if directory:
            target = Path(directory) / Path(part["path"]).name
            target.write_bytes(container.read_part(part))


if __name__ == "__main__":
    main(*sys.argv[1:])
