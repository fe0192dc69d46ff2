# mypy: ignore-errors
"""Addresses of compiled joint laws, through which kernels call them without being compiled for each law.

    where = law_address(law)                                 in Python
    call_law(where, numbers, 1.0, ..., memory, out)          in a kernel

If a function were passed to a kernel as an argument, the kernel and all kernels between would be compiled again for it.
"""

from types import FunctionType
from typing import Any

from numba.core import cgutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic as numba_intrinsic

from drystone.base.kernel.digest import code_digest
from drystone.base.kernel.dispatch import Kernel, inner

intrinsic: Any = numba_intrinsic

_ROW = types.Array(types.float64, 1, "C")
LAW_ARGUMENTS = (_ROW, *[types.float64] * 7, _ROW, _ROW)  # arguments of the law of a joint, engine/small_steps/cell_stress.py
_addresses: dict[str, tuple[int, Kernel]] = {}  # by what the functions do


class _Addressed(Kernel):
    """A function that always has machine code of its own, however small it is."""

    max_copied = 0


@global_compiler_lock
def law_address(function: Any) -> int:
    """The address of the machine code of a joint law, which is a Python function or a compiled one. The address does not
    change,
    and functions with the same code have the same address."""
    plain = getattr(function, "py_func", function)
    digest = code_digest(plain)
    if digest not in _addresses:
        kernel = _Addressed(_renamed(plain, digest), targetoptions=inner(plain).targetoptions)
        compiled = kernel.provide(LAW_ARGUMENTS)
        if compiled.signature.return_type != types.none:
            raise TypeError(f"it returns {compiled.signature.return_type}")
        where = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        _addresses[digest] = where, kernel
    return _addresses[digest][0]


def _renamed(function: FunctionType, digest: str) -> FunctionType:
    """A copy of the function whose name contains the digest of its code, as machine code is found by its name, and another
    function
    of the same name may be defined in the same process."""
    name = f"{function.__name__}_{digest[:16]}"
    copy = FunctionType(function.__code__.replace(co_name=name, co_qualname=name), function.__globals__, name,
                        function.__defaults__, function.__closure__)  # fmt: skip
    copy.__module__, copy.__qualname__ = __name__, name  # its own may be one that another process cannot import
    return copy


@intrinsic
def call_law(typingctx, where, numbers, opening, farthest, rate, v1, v2, dt, damping, memory, out):
    def codegen(context, builder, signature, values):
        kind = context.call_conv.get_function_type(types.none, LAW_ARGUMENTS)
        function = builder.inttoptr(values[0], kind.as_pointer())
        status, _ = context.call_conv.call_function(builder, function, types.none, LAW_ARGUMENTS, values[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.int64, *LAW_ARGUMENTS), codegen
