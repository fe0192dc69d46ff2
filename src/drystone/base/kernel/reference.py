# mypy: ignore-errors
"""Passes records to kernels by reference: wraps a `NamedTuple` of arrays, numbers and such records in an object that kernels
receive as one address.

    data = Reference(Data(structure, pairs, ...))            in Python
    data.work.velocity, data.joints[1].rows                   in a kernel

Numba passes a `NamedTuple` by value: every array is seven numbers, so that a record of a hundred arrays is seven hundred
arguments of every function it is handed to. To unpack them took 54 microseconds a call from Python, and the compiler spent a
third of its time on them. Here the addresses and shapes of the arrays lie in one table, where kernels look them up.

Arrays must be contiguous in C order. The reference keeps them alive.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import NativeValue, lower_builtin, register_model, unbox

WORD_TYPE = ir.IntType(64)
NUMBER_TYPES = {np.dtype(float): types.float64, np.dtype(np.int64): types.int64, np.dtype(bool): types.boolean}


class ReferenceType(types.Type):
    """The type of the address of a record's table: its class, the names and types of its fields, and where each begins."""

    def __init__(self, kind: str, names: tuple[str, ...], fields: tuple[types.Type, ...]):
        self.names, self.fields = names, fields
        self.starts = tuple(int(n) for n in np.cumsum([0, *map(_words, fields)]))
        inside = ", ".join(f"{name}: {each}" for name, each in zip(names, fields, strict=True))
        super().__init__(name=f"reference to {kind}({inside})")

    @property
    def words(self) -> int:
        return self.starts[-1]


class RowType(types.Type):
    """The type of the address of several tables of one kind, one after the other."""

    def __init__(self, count: int, each: ReferenceType):
        self.count, self.each = count, each
        super().__init__(name=f"{count} times {each}")

    @property
    def words(self) -> int:
        return self.count * self.each.words


def _words(kind: types.Type) -> int:
    """How many numbers a field takes in a table; an array takes its address and its shape."""
    if isinstance(kind, types.Array):
        return 1 + kind.ndim
    return kind.words if isinstance(kind, (ReferenceType, RowType)) else 1


class Reference:
    """A record as kernels receive it. `record` is the one in Python, with the same arrays."""

    def __init__(self, record: Any):
        self.record = record
        self._numba_type_ = _kind_of(record)
        self._table = np.empty(self._numba_type_.words, np.int64)
        self.address = self._table.ctypes.data
        _write(record, self._table)

    def replace(self, name: str, value: Any) -> None:
        """Replace a field by another value of the same type. No kernel may be running."""
        kind, at = self._numba_type_, self._numba_type_.names.index(name)
        assert _kind_of(value) == kind.fields[at]
        _write(value, self._table[kind.starts[at] :])
        self.record = self.record._replace(**{name: value})


def _kind_of(value: Any) -> types.Type:
    if hasattr(value, "_fields"):
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        return ReferenceType(name, value._fields, tuple(map(_kind_of, value)))
    if isinstance(value, tuple):
        return RowType(len(value), _kind_of(value[0]))
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return types.Array(NUMBER_TYPES[value.dtype], value.ndim, "C")
    return typeof(value)


def _write(value: Any, table: Any) -> int:
    """Fills the table from its beginning; returns how many numbers were written."""
    if isinstance(value, tuple):
        at = 0
        for each in value:
            at += _write(each, table[at:])
        return at
    if isinstance(value, np.ndarray):
        table[0] = value.__array_interface__["data"][0]
        table[1 : 1 + value.ndim] = value.shape
        return 1 + value.ndim
    if isinstance(value, float):
        table[:1].view(float)[0] = value
    else:
        table[0] = value
    return 1


@register_model(ReferenceType)
@register_model(RowType)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, WORD_TYPE.as_pointer())


@unbox(ReferenceType)
def _unbox(kind, value, c):
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.builder.inttoptr(c.pyapi.long_as_longlong(number), WORD_TYPE.as_pointer())
    c.pyapi.decref(number)
    return NativeValue(address, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = ReferenceType

    def generic_resolve(self, kind, name):
        return kind.fields[kind.names.index(name)] if name in kind.names else None


@lower_getattr_generic(ReferenceType)
def _lower_field(context, builder, kind, table, name):
    at = kind.names.index(name)
    place = builder.gep(table, [ir.Constant(WORD_TYPE, kind.starts[at])])
    field = kind.fields[at]
    if isinstance(field, (ReferenceType, RowType)):
        return place
    if isinstance(field, types.Array):
        return _array_at(context, builder, field, place)
    word = _load(builder, place)
    if field == types.float64:
        return builder.bitcast(word, ir.DoubleType())
    return builder.trunc(word, ir.IntType(1)) if field == types.boolean else word


def _load(builder, place):
    """Load a number of a table. Tables never change while a kernel runs, so it need not be loaded again after a write."""
    word = builder.load(place)
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _array_at(context, builder, kind, place):
    array = context.make_array(kind)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = [_load(builder, builder.gep(place, [ir.Constant(WORD_TYPE, 1 + axis)])) for axis in range(kind.ndim)]
    strides, count = [ir.Constant(WORD_TYPE, item)], ir.Constant(WORD_TYPE, 1)
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    for extent in shape:
        count = builder.mul(count, extent)
    context.populate_array(
        array, data=builder.inttoptr(_load(builder, place), array.data.type), shape=shape, strides=strides,
        itemsize=ir.Constant(WORD_TYPE, item), meminfo=None,
    )  # fmt: skip
    array.nitems = count
    return array._getvalue()


@infer_global(operator.getitem)
class _Item(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], RowType) and isinstance(args[1], types.Integer):
            return signature(args[0].each, args[0], types.int64)
        return None


@lower_builtin(operator.getitem, RowType, types.int64)
def _lower_item(context, builder, sig, args):
    row = sig.args[0]
    return builder.gep(args[0], [builder.mul(args[1], ir.Constant(WORD_TYPE, row.each.words))])
