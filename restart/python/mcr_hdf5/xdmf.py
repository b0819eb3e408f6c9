# SPDX-License-Identifier: BSD-3-Clause
"""The XDMF file beside a file of global arrays: ParaView and VisIt read fields on a regular mesh from it. An element of an array is a
cell of edge length 1, in refined levels accordingly less."""
import re
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr, escape

import numpy

from .places import Level

KINDS = {"f": "Float", "i": "Int", "u": "UInt"}
BYTES = {"f": (4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}


@dataclass(frozen=True)
class Array:
    path: str
    dtype: numpy.dtype
    level: Level

    @property
    def mesh(self):
        """Shape, origin and edge length of a cell, in cells of the coarsest level; the slowest axis first."""
        level = self.level
        return level.shape, tuple(n / r for n, r in zip(level.first, level.ratio)), tuple(1 / r for r in level.ratio)

    @property
    def drawn(self):
        """XDMF knows the array as cells of a mesh."""
        level = self.level
        return (len(level.shape) in (2, 3) and level.components == 1 and not level.is_list and is_xml(self.path) and
                self.dtype.itemsize in BYTES.get(self.dtype.kind, ()))


def is_xml(text):
    """XML can have neither most control characters nor bytes that are no UTF-8, also not as escapes."""
    return not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text)


def document(file_name, arrays, time=None):
    """Arrays with the same cells share a mesh. Only arrays that are drawn are in the document."""
    lines = ['<?xml version="1.0"?>', '<Xdmf Version="2.0">', "  <Domain>"]
    drawn = [array for array in arrays if array.drawn and is_xml(file_name)]
    for mesh in sorted({array.mesh for array in drawn}):
        lines += _grid(file_name, mesh, [(array.path, array.dtype) for array in drawn if array.mesh == mesh], time)
    return "\n".join(lines + ["  </Domain>", "</Xdmf>", ""])


def _grid(file_name, mesh, arrays, time):
    shape, origin, spacing = mesh
    dimensions = len(shape)
    text = " ".join(map(str, shape))
    yield f'    <Grid Name="{"x".join(map(str, shape))}" GridType="Uniform">'
    if time is not None:
        yield f'      <Time Value="{time}"/>'
    yield f'      <Topology TopologyType="{dimensions}DCORECTMesh" Dimensions="{" ".join(str(n + 1) for n in shape)}"/>'
    yield f'      <Geometry GeometryType="ORIGIN_{"DXDYDZ" if dimensions == 3 else "DXDY"}">'
    for values in (origin, spacing):
        yield f'        <DataItem Dimensions="{dimensions}" NumberType="Float" Format="XML">{" ".join(f"{n:.17g}" for n in values)}</DataItem>'
    yield "      </Geometry>"
    for path, dtype in arrays:
        yield f'      <Attribute Name={quoteattr(path.strip("/"))} AttributeType="Scalar" Center="Cell">'
        yield (f'        <DataItem Dimensions="{text}" NumberType="{KINDS[dtype.kind]}" Precision="{dtype.itemsize}" Format="HDF" '
               f'Endian="{"Big" if dtype.byteorder == ">" else "Little"}">{escape(file_name)}:{escape(path)}</DataItem>')
        yield "      </Attribute>"
    yield "    </Grid>"
