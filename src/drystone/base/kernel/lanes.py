# mypy: ignore-errors
"""Four numbers at once: `Lanes` is a vector of four doubles that kernels compute with as with one number.

A kernel that treats four patches of contact in one go is written as if it treated one: `depth = -(gap + slope * s)` with
lanes in place of floats. LLVM turns every operation into one instruction of the processor (AVX2) or into two (SSE2, NEON),
always with the rounding of the same operation on doubles: the bits do not depend on the processor.

    load(array, i), store(array, i, x)        four consecutive numbers of a one-dimensional array
    gather(array, i, j, k, l)                 four numbers of each of four rows, as four lanes: a transposed copy
    scatter(array, i, j, k, l, a, b, c, d)    the reverse
    same(x)                                   one number in all lanes
    select(mask, x, y), either(mask), every(mask), maximum, minimum, root, absolute; < > <= >= make masks, & | combine them

Numba does not vectorise such loops by itself: rows of one array might overlap for all it knows.
"""

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import lower_builtin, register_model

intrinsic: Any = numba_intrinsic  # its functions have other arguments for the compiler than for their callers
WIDTH = 4
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)
_INDEX = ir.IntType(32)


class LanesType(types.Type):
    """Four doubles."""

    def __init__(self):
        super().__init__(name="Lanes")


class MaskType(types.Type):
    """Four truth values."""

    def __init__(self):
        super().__init__(name="Mask")


lanes = LanesType()
mask = MaskType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _BITS)


def _broadcast(builder, value):
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(_INDEX, 0))
    return builder.shuffle_vector(
        one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH)
    )


def _as_lanes(context, builder, kind, value):
    if kind is lanes or isinstance(kind, LanesType):
        return value
    return _broadcast(builder, context.cast(builder, value, kind, types.float64))


def _binary(function, emit, result):
    """Make `function` known for two lanes, and for lanes and a number."""
    pairs = [(lanes, lanes), (lanes, types.float64), (types.float64, lanes), (lanes, types.int64), (types.int64, lanes)]

    class Template(ConcreteTemplate):
        cases = [signature(result, *pair) for pair in pairs]  # noqa: RUF012

    infer_global(function)(Template)
    for pair in pairs:

        @lower_builtin(function, *pair)
        def lower(context, builder, sig, args):
            x, y = (_as_lanes(context, builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
            return emit(builder, x, y)


for _function, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
                         (operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"),
                         (operator.itruediv, "fdiv")):  # fmt: skip
    _binary(_function, lambda builder, x, y, name=_name: getattr(builder, name)(x, y), lanes)
for _function, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _binary(_function, lambda builder, x, y, sign=_sign: builder.fcmp_ordered(sign, x, y), mask)


def _masks(function, emit):
    class Template(ConcreteTemplate):
        cases = [signature(mask, mask, mask)]  # noqa: RUF012

    infer_global(function)(Template)

    @lower_builtin(function, mask, mask)
    def lower(context, builder, sig, args):
        return emit(builder, *args)


_masks(operator.and_, lambda builder, x, y: builder.and_(x, y))
_masks(operator.or_, lambda builder, x, y: builder.or_(x, y))
_masks(operator.xor, lambda builder, x, y: builder.xor(x, y))


class _Negative(ConcreteTemplate):
    cases = [signature(lanes, lanes)]  # noqa: RUF012


class _Not(ConcreteTemplate):
    cases = [signature(mask, mask)]  # noqa: RUF012


infer_global(operator.neg)(_Negative)
infer_global(operator.invert)(_Not)


@lower_builtin(operator.neg, lanes)
def _lower_negative(context, builder, sig, args):
    return builder.fneg(args[0])


@lower_builtin(operator.invert, mask)
def _lower_not(context, builder, sig, args):
    return builder.not_(args[0])


def _call(builder, name, x, *others):
    kind = ir.FunctionType(x.type, [x.type] * (1 + len(others)))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [x, *others])


@intrinsic
def same(typingctx, x):
    """One number in all lanes."""
    if isinstance(x, LanesType):
        return signature(lanes, lanes), lambda context, builder, sig, args: args[0]

    def codegen(context, builder, sig, args):
        return _as_lanes(context, builder, sig.args[0], args[0])

    return signature(lanes, x), codegen


@intrinsic
def root(typingctx, x):
    """Square root."""

    def codegen(context, builder, sig, args):
        return _call(builder, "llvm.sqrt.v4f64", args[0])

    return signature(lanes, lanes), codegen


@intrinsic
def absolute(typingctx, x):
    def codegen(context, builder, sig, args):
        return _call(builder, "llvm.fabs.v4f64", args[0])

    return signature(lanes, lanes), codegen


def _chosen(sign):
    def make(typingctx, x, y):
        def codegen(context, builder, sig, args):
            one, other = (_as_lanes(context, builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
            return builder.select(builder.fcmp_ordered(sign, one, other), one, other)

        return signature(lanes, x, y), codegen

    return make


@intrinsic
def maximum(typingctx, x, y):
    return _chosen(">")(typingctx, x, y)


@intrinsic
def minimum(typingctx, x, y):
    return _chosen("<")(typingctx, x, y)


@intrinsic
def select(typingctx, where, x, y):
    """x in the lanes where the mask is true, else y."""

    def codegen(context, builder, sig, args):
        one, other = (_as_lanes(context, builder, kind, value) for kind, value in zip(sig.args[1:], args[1:], strict=True))
        return builder.select(args[0], one, other)

    return signature(lanes, mask, x, y), codegen


def _number_of_mask(builder, value):
    return builder.bitcast(value, ir.IntType(WIDTH))


@intrinsic
def either(typingctx, where):
    """Whether the mask is true in some lane."""

    def codegen(context, builder, sig, args):
        return builder.icmp_unsigned("!=", _number_of_mask(builder, args[0]), ir.Constant(ir.IntType(WIDTH), 0))

    return signature(types.boolean, mask), codegen


@intrinsic
def every(typingctx, where):
    """Whether the mask is true in all lanes."""

    def codegen(context, builder, sig, args):
        return builder.icmp_unsigned("==", _number_of_mask(builder, args[0]), ir.Constant(ir.IntType(WIDTH), 2**WIDTH - 1))

    return signature(types.boolean, mask), codegen


@intrinsic
def bits(typingctx, where):
    """The mask as a number: lane 0 is 1, lane 1 is 2, lane 2 is 4, lane 3 is 8."""

    def codegen(context, builder, sig, args):
        return builder.zext(_number_of_mask(builder, args[0]), ir.IntType(64))

    return signature(types.int64, mask), codegen


def _place(context, builder, kind, value, index):
    """The address of four numbers of an array from `index` on."""
    array = context.make_array(kind)(context, builder, value)
    return builder.bitcast(builder.gep(array.data, [index]), ir.PointerType(_VECTOR))


def _read(builder, place):
    loaded = builder.load(place)
    loaded.align = 8
    return loaded


def _write(builder, value, place):
    builder.store(value, place).align = 8


@intrinsic
def load(typingctx, array, i):
    """The four numbers of a one-dimensional array from i on."""

    def codegen(context, builder, sig, args):
        return _read(builder, _place(context, builder, sig.args[0], args[0], args[1]))

    return signature(lanes, array, types.intp), codegen


@intrinsic
def store(typingctx, array, i, x):
    """Write the lanes to a one-dimensional array from i on."""

    def codegen(context, builder, sig, args):
        value = _as_lanes(context, builder, sig.args[2], args[2])
        _write(builder, value, _place(context, builder, sig.args[0], args[0], args[1]))
        return context.get_dummy_value()

    return signature(types.none, array, types.intp, x), codegen


def _shuffle(builder, x, y, which):
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_INDEX, WIDTH), which))


def _transposed(builder, rows):
    a, b, c, d = rows
    low0, low1 = _shuffle(builder, a, b, [0, 4, 2, 6]), _shuffle(builder, c, d, [0, 4, 2, 6])
    high0, high1 = _shuffle(builder, a, b, [1, 5, 3, 7]), _shuffle(builder, c, d, [1, 5, 3, 7])
    return [
        _shuffle(builder, low0, low1, [0, 1, 4, 5]),
        _shuffle(builder, high0, high1, [0, 1, 4, 5]),
        _shuffle(builder, low0, low1, [2, 3, 6, 7]),
        _shuffle(builder, high0, high1, [2, 3, 6, 7]),
    ]


@intrinsic
def gather(typingctx, array, i, j, k, l):
    """Four numbers from i on, from j on, from k on and from l on; the four firsts are the first lanes, and so on."""
    result = types.UniTuple(lanes, WIDTH)

    def codegen(context, builder, sig, args):
        rows = [_read(builder, _place(context, builder, sig.args[0], args[0], index)) for index in args[1:]]
        return cgutils.pack_array(builder, _transposed(builder, rows))

    return signature(result, array, types.intp, types.intp, types.intp, types.intp), codegen


@intrinsic
def scatter(typingctx, array, i, j, k, l, a, b, c, d):
    """Write the first of a, b, c, d from i on, the second from j on, and so on."""

    def codegen(context, builder, sig, args):
        for index, row in zip(args[1:5], _transposed(builder, args[5:]), strict=True):
            _write(builder, row, _place(context, builder, sig.args[0], args[0], index))
        return context.get_dummy_value()

    return signature(types.none, array, *[types.intp] * 4, *[lanes] * 4), codegen


@intrinsic
def fetch(typingctx, array, i):
    """The cache line of a number is asked for, as it will be read soon; changes nothing."""

    def codegen(context, builder, sig, args):
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(_place(context, builder, sig.args[0], args[0], args[1]), pointer)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [place, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return signature(types.none, array, types.intp), codegen
