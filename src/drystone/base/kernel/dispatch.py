# mypy: disable-error-code="call-arg,attr-defined,assignment,has-type"
"""The decorators that compile Python functions of the package: `@kernel`, `@inner`, `@inlined` and `@unlocked`.

`@kernel` is like `numba.njit`, but the function is compiled once, into machine code of its own (target.py), and kept on
disk (store.py), where it is found again by all that its code depends on (digest.py). `@inner` is for functions that
allocate nothing: they have no reference counts, which Numba keeps for every array a function receives (60 % of the narrow
phase when measured) and which take a third of the compiling. Numba refuses to compile one that does allocate. `@inlined` is
copied into its callers even if it is large: a constant argument is then a constant in the code. `@unlocked` releases
Python's global interpreter lock while it runs.

A function that only other kernels call has no entry point for Python; one is made when Python calls it for the first time.
"""

import importlib
import pickle
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config, sigutils, types
from numba.core.compiler import CompileResult, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from drystone.base.kernel import store
from drystone.base.kernel.digest import code_digest, describe_type, digest_texts
from drystone.base.kernel.target import Callee, kernel_target
from drystone.base.signals import deliver_signals

STORE_FORMAT = "1"  # version of the format of files in the store
MAX_COPIED_INSTRUCTIONS = 120  # of LLVM; a smaller function is copied into its callers, as a call would cost more
KEY_VERSIONS = (
    STORE_FORMAT,
    str(MAX_COPIED_INSTRUCTIONS),
    f"{sys.version_info[0]}.{sys.version_info[1]}",
    numba.__version__,
    llvmlite.__version__,
    np.__version__.partition(".")[0],  # how arrays lie in memory changes with the major version at most
    __name__,  # stored code names classes of this package by their modules
)

_announce: Callable[[], None] | None = None  # called before the first compilation of this process
_compiled = 0  # kernels that this process has compiled


def announce_compiling(say: Callable[[], None] | None) -> None:
    """Have `say` called once, when this process is about to compile its first kernel."""
    global _announce
    _announce = say


def compilations() -> int:
    """The number of kernels that this process has compiled, without those loaded from the store."""
    return _compiled


def is_compiled(*kernels: Any) -> bool:
    """Whether each of these kernels, in its present version and for this Python, has been compiled for at least one
    signature."""
    return all(store.is_stored(each.stored_name) for each in kernels)


class _Flags(Flags):
    """The options of a compilation. Numba compares them a hundred thousand times while it searches for implementations, and
    gathers
    all their defaults each time, which takes a tenth of the compiling time. Here only the options that were set are
    compared."""

    __slots__ = ()

    def __hash__(self) -> int:
        return _HASH_OF_FLAGS

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else super().__eq__(other)


_HASH_OF_FLAGS = hash(Flags())  # Numba's is that of the names of all options


class _Compiler(_FunctionCompiler):
    """Numba's compiler, stopped before machine code is made."""

    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return _Flags(flags)


class Kernel(CPUDispatcher):
    """A compiled function."""

    targetdescr = kernel_target
    max_copied = MAX_COPIED_INSTRUCTIONS

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, **others: Any):
        super().__init__(py_func, locals, targetoptions, **others)
        self._compiler = _Compiler(py_func, self.targetdescr, self.targetoptions, self.locals, self._compiler.pipeline_class)
        self._for_linking = False
        self._entries: dict[Any, Any] = {}  # entry points for Python, by argument types

    @cached_property
    def stored_name(self) -> str:
        """The name of its entries in the store, without the part that depends on the argument types."""
        code = code_digest(self.py_func)
        options = sorted(self.targetoptions.items())
        key = digest_texts([*KEY_VERSIONS, *map(str, self.targetctx.codegen().magic_tuple()), code, str(options)])[:20]
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}-{key}"

    @property
    def is_inlined(self) -> bool:
        return self.targetoptions.get("forceinline", False)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba calls this when another kernel calls this one. A literal number in the call is treated as any other number, so
        that the function is not compiled for each value of it, unless it is inlined."""
        if not self.is_inlined:
            args = [types.unliteral(each) for each in args]
            kws = {name: types.unliteral(each) for name, each in kws.items()}
        with global_compiler_lock:
            before, self._for_linking = self._for_linking, True
            try:
                return super().get_call_template(args, kws)
            finally:
                self._for_linking = before

    def compile(self, sig: Any) -> Any:
        """Compile or load the kernel for these argument types, for a call from another kernel or from Python."""
        with global_compiler_lock:
            args, _ = sigutils.normalize_signature(sig)
            for_linking, self._for_linking = self._for_linking, False
            try:
                result = self.provide(args)
                return result.entry_point if for_linking else self._entry(tuple(args), result)
            finally:
                self._for_linking = for_linking

    def provide(self, args: Any) -> Any:
        """The compiled code for these argument types, as other kernels call it."""
        args = tuple(args)
        if args not in self.overloads:
            rtsys.initialize(self.targetctx)  # sufficient for stored code; Numba loads for another half a second to compile
            name = f"{self.stored_name}-{digest_texts(map(describe_type, args))[:12]}"
            result = self._loaded(name)
            if result is None:
                with deliver_signals(), store.sole_compiler(name):
                    result = self._loaded(name) or self._compiled(name, args)
            self.overloads[args] = result
        return self.overloads[args]

    def _loaded(self, name: str) -> Any:
        content = store.load_entry(name)
        if content is None:
            return None
        is_separate, state, callees, fndesc, env, signature, environments = pickle.loads(content)
        for callee in callees:
            _import_kernel(callee).provide(callee.arguments)
        codegen = self.targetctx.codegen()
        library = codegen.load_object(*state) if is_separate else codegen.load_bitcode(*state)
        library.callees.update(dict.fromkeys(callees))
        library.is_separate = is_separate
        result = CompileResult(
            typing_context=self.typingctx, target_context=self.targetctx, entry_point=None, typing_error=None,
            type_annotation=None, signature=signature, objectmode=False, lifted=(), fndesc=fndesc, library=library,
            call_helper=None, environment=env, metadata=None, reload_init=(), referenced_envs=environments,
        )  # fmt: skip
        return self._register(result, environments)

    def _compiled(self, name: str, args: Any) -> Any:
        _note_compilation()
        self.targetctx.refresh()
        result = self._compiler.compile(args, None)
        library = result.library
        library.is_separate = not self.is_inlined and library.size() > self.max_copied
        environments = result._find_referenced_environments() if library.is_separate else []
        if library.is_separate:
            library.emit()
        result = self._register(result, environments)
        result.fndesc.typemap = result.fndesc.calltypes = None
        state = library.serialize_object() if library.is_separate else library.serialize_bitcode()
        content = (library.is_separate, state, list(library.callees), result.fndesc, result.environment, result.signature,
                   environments)  # fmt: skip
        store.save_entry(name, dumps(content))
        return result

    def _register(self, result: Any, environments: Any) -> Any:
        """Make the compiled code known to the kernels that are compiled after it."""
        library = result.library
        library.identity = Callee(self.py_func.__module__, self.py_func.__qualname__, tuple(result.signature.args))
        for each in environments:
            library.codegen.set_env(each.env_name, each)
        result = result._replace(entry_point=library.identity)
        self.targetctx.insert_user_function(result.entry_point, result.fndesc, [library])
        return result

    def _entry(self, args: Any, result: Any) -> Any:
        """The entry point for Python, made known to Numba's dispatcher."""
        if args in self._entries:
            return self._entries[args]
        name = f"{self.stored_name}-{digest_texts(map(describe_type, args))[:12]}-entry"
        context = self.targetctx.subtarget(enable_nrt=self.targetoptions.get("_nrt", True))
        codegen = context.codegen()
        content = store.load_entry(name)
        if content is None:
            self.targetctx.refresh()
            library = codegen.create_library(f"{result.fndesc.qualname} entry")
            library.enable_object_caching()
            with context.push_code_library(library):
                library.add_linking_library(rtsys.library)  # reference counts
                library.add_linking_library(result.library)
                context.create_cpython_wrapper(library, result.fndesc, result.environment, result.call_helper,
                                               release_gil=self.targetoptions.get("nogil", False))  # fmt: skip
            library.emit()
            store.save_entry(name, dumps((library.serialize_object(), list(result.environment.consts))))
        else:
            state, constants = pickle.loads(content)
            result.environment.consts[:] = constants  # those of the code, then those of the entry
            library = codegen.load_object(*state)
        self._entries[args] = context.get_executable(library, result.fndesc, result.environment)
        self._insert([each._code for each in args], self._entries[args], False)
        return self._entries[args]


def _import_kernel(callee: Callee) -> Kernel:
    imported: Any = importlib.import_module(callee.module)
    for part in callee.name.split("."):
        imported = getattr(imported, part)
    return imported


def _note_compilation() -> None:
    global _compiled, _announce
    _compiled += 1
    if _compiled == 1:
        store.prune()
        if _announce is not None:
            _announce()


def _decorator(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        return Kernel(function, targetoptions={"nopython": True, "boundscheck": None, "error_model": "numpy", **options})

    return decorate


kernel = _decorator()
inner = _decorator(_nrt=False)
inlined = _decorator(_nrt=False, forceinline=True)
unlocked = _decorator(nogil=True)  # releases Python's global interpreter lock while it runs
