# SPDX-License-Identifier: BSD-3-Clause
"""The XDMF file beside a file of global arrays: ParaView and VisIt read fields on a regular mesh from it. An element of an array is a
cell of edge length 1."""
from xml.sax.saxutils import quoteattr, escape

KINDS = {"f": "Float", "i": "Int", "u": "UInt"}
BYTES = {"f": (4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}


def document(file_name, arrays, time=None):
    """`arrays`: (path, shape, dtype). Arrays of one shape share a mesh. Only 2- or 3-dimensional arrays of numbers that XDMF knows are in the
    document."""
    lines = ['<?xml version="1.0"?>', '<Xdmf Version="2.0">', "  <Domain>"]
    drawn = [(path, shape, dtype) for path, shape, dtype in arrays if len(shape) in (2, 3) and dtype.itemsize in BYTES.get(dtype.kind, ())]
    for shape in sorted({shape for _, shape, _ in drawn}):
        lines += _grid(file_name, shape, [(path, dtype) for path, other, dtype in drawn if other == shape], time)
    return "\n".join(lines + ["  </Domain>", "</Xdmf>", ""])


def _grid(file_name, shape, arrays, time):
    dimensions = len(shape)
    text = " ".join(map(str, shape))
    yield f'    <Grid Name="{"x".join(map(str, shape))}" GridType="Uniform">'
    if time is not None:
        yield f'      <Time Value="{time}"/>'
    yield f'      <Topology TopologyType="{dimensions}DCORECTMesh" Dimensions="{" ".join(str(n + 1) for n in shape)}"/>'
    yield f'      <Geometry GeometryType="ORIGIN_{"DXDYDZ" if dimensions == 3 else "DXDY"}">'
    for value in ("0", "1"):
        yield f'        <DataItem Dimensions="{dimensions}" NumberType="Float" Format="XML">{" ".join([value] * dimensions)}</DataItem>'
    yield "      </Geometry>"
    for path, dtype in arrays:
        yield f'      <Attribute Name={quoteattr(path.strip("/"))} AttributeType="Scalar" Center="Cell">'
        yield (f'        <DataItem Dimensions="{text}" NumberType="{KINDS[dtype.kind]}" Precision="{dtype.itemsize}" Format="HDF" '
               f'Endian="{"Big" if dtype.byteorder == ">" else "Little"}">{escape(file_name)}:{escape(path)}</DataItem>')
        yield "      </Attribute>"
    yield "    </Grid>"
