# SPDX-License-Identifier: BSD-3-Clause
"""Values of datasets and attributes of every type, and which of them have different bits."""
import h5py
import numpy

from .variable import read_values


def different(one, other):
    """Which elements of two arrays of one type have different bits. Padding, of compounds and of long double, does not count."""
    dtype = one.dtype
    if not one.size or not dtype.itemsize:
        return numpy.zeros(one.shape, bool)
    if dtype.names:
        found = numpy.zeros(one.shape, bool)
        for name in dtype.names:
            member = different(one[name], other[name])
            found |= member.any(axis=tuple(range(one.ndim, member.ndim)))  # a member may be an array
        return found
    if dtype.kind == "c":
        return different(one.real, other.real) | different(one.imag, other.imag)
    if dtype.kind == "O":
        return numpy.array([_objects_differ(*pair) for pair in zip(one.flat, other.flat)], bool).reshape(one.shape)
    if dtype.kind == "f" and numpy.finfo(dtype).nmant == 63:  # of x86: 80 bits with a padding
        parts = numpy.dtype({"names": ["significand", "exponent"], "formats": ["u8", "u2"], "itemsize": dtype.itemsize})
        return different(one.astype(numpy.longdouble).view(parts), other.astype(numpy.longdouble).view(parts))
    bits = f"u{dtype.itemsize}" if dtype.itemsize in (1, 2, 4, 8) else f"V{dtype.itemsize}"
    return numpy.asarray(one.view(bits) != other.view(bits))


def _objects_differ(one, other):
    """Elements of variable-length types: texts, or arrays."""
    if not (isinstance(one, numpy.ndarray) and isinstance(other, numpy.ndarray)):
        return type(one) is not type(other) or one != other
    return one.shape != other.shape or one.dtype != other.dtype or bool(different(one, other).any())


def dataset_values(dataset):
    """An array of the dataset's own type, also of one element. Of references and of types that NumPy does not have, the bytes are given."""
    try:
        dtype = dataset.dtype
    except (TypeError, ValueError):
        return _bytes(dataset.id, dataset.shape or ())
    if dataset.size and h5py.check_ref_dtype(dtype):  # h5py's references are never equal
        return _bytes(dataset.id, dataset.shape)
    values = numpy.asarray(read_values(dataset, ...))
    return _with_targets(values, dataset.file) if values.dtype.hasobject else values


def attribute_values(item, name):
    """As dataset_values(), of an attribute."""
    attribute = item.attrs.get_id(name)
    try:
        dtype = attribute.dtype
    except (TypeError, ValueError):
        return _bytes(attribute, attribute.shape)
    if attribute.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        return numpy.empty(0, "V1") if dtype.subdtype or dtype.hasobject else numpy.empty(0, dtype)
    value = item.attrs[name]
    value = numpy.array(value, object if isinstance(value, str) else None)
    return _with_targets(value, item.file) if value.dtype.hasobject else value


def _bytes(identifier, shape):
    stored = identifier.get_type()
    values = numpy.empty(shape, f"V{stored.get_size()}")
    if values.size:
        if isinstance(identifier, h5py.h5a.AttrID):
            identifier.read(values, stored)
        else:
            identifier.read(h5py.h5s.ALL, h5py.h5s.ALL, values, stored)
    return values


def _with_targets(values, file):
    """The array with the name of the target in the place of each reference."""
    if values.dtype.names:
        for name in values.dtype.names:
            _with_targets(values[name], file)
    elif values.dtype.kind == "O":
        for number, value in enumerate(values.flat):
            if isinstance(value, h5py.h5r.Reference):
                values.flat[number] = h5py.h5r.get_name(value, file.id) if value else None
            elif isinstance(value, numpy.ndarray) and value.dtype.hasobject:
                values.flat[number] = _with_targets(value, file)
    return values
