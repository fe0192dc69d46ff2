"""The compilation target of kernels: each is compiled to machine code of its own, for one stated processor.

Numba copies the code of every called function into its callers, and optimises and compiles the combined code again, so that a
function with many callers is compiled many times. Here a kernel is compiled once: its callers declare it, and the linker
resolves it. Only small functions and those marked `inlined` are copied.

Numba's own target is unchanged: the functions of a user who imports drystone are compiled as usual, for the processor at hand.
"""

import os
import platform
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core import codegen, cpu, registry
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.funcdesc import default_mangler
from numba.core.utils import threadsafe_cached_property

from drystone.base.kernel.digest import describe_type, digest_texts

PROCESSOR_VARIABLE = "DRYSTONE_CPU"  # environment variable: a processor as LLVM names it, or "native"

# Any x86-64 processor since about 2015 has the features of x86-64-v3: AVX2, FMA, BMI2.
X86_64_V3_FEATURES = ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe")


def target_processor() -> str:
    """The processor that kernels are compiled for, as LLVM names it. It is the same on all machines of one architecture unless
    DRYSTONE_CPU is set, so that they compute with the same instructions and can share compiled kernels."""
    requested = os.environ.get(PROCESSOR_VARIABLE, "")
    if requested:
        return "" if requested == "native" else requested
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        features = llvm.get_host_cpu_features()
        return "x86-64-v3" if all(features.get(each) for each in X86_64_V3_FEATURES) else "x86-64"
    if machine == "arm64" and platform.system() == "Darwin":
        return "apple-m1"
    return "generic" if machine in ("aarch64", "arm64") else ""


class Callee(NamedTuple):
    """A kernel that another one calls by its symbol."""

    module: str
    name: str
    arguments: tuple[Any, ...]  # Numba types


class KernelLibrary(codegen.JITCodeLibrary):
    """The code of one kernel."""

    is_separate = False  # True once it is machine code of its own, which callers find by its symbol
    identity: Callee

    def __init__(self, owner: Any, name: str):
        super().__init__(owner, name)
        self.callees: dict[Callee, None] = {}  # in the order of their first call

    def add_linking_library(self, library: Any) -> None:
        if isinstance(library, KernelLibrary):
            if library.is_separate:
                self.callees[library.identity] = None
                return
            self.callees.update(library.callees)
        super().add_linking_library(library)

    def _verify_declare_only_symbols(self) -> None:
        """Check that every declared function is defined, in this library or as machine code of its own."""
        engine = self._codegen._engine
        for each in self._final_module.functions:
            if each.is_declaration and each.name.startswith("_Z") and not engine.is_symbol_defined(each.name):
                raise AssertionError(f"{self.name} calls {each.name}, which is nowhere")

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do nothing: functions are optimised together with the module."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimise once. Numba does it twice, to cancel more reference counts, of which kernels have few."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        """Optimise the module without making machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def emit(self) -> None:
        """Make machine code, or use the object code that was given."""
        self._ensure_finalized()
        super()._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        return self._codegen._engine.get_function_address(name)

    def size(self) -> int:
        """The number of instructions of its largest function, which is the kernel itself with the functions inlined in it."""
        self._ensure_finalized()
        return max(sum(1 for block in each.blocks for _ in block.instructions) for each in self._final_module.functions)

    def symbols(self) -> list[str]:
        """The symbols that it defines."""
        module = self._final_module
        return [each.name for group in (module.functions, module.global_variables) for each in group if not each.is_declaration]

    def serialize_object(self) -> tuple[str, bytes, list[str]]:
        return self.name, self._get_compiled_object(), self.symbols()

    def serialize_bitcode(self) -> tuple[str, bytes]:
        self._ensure_finalized()
        return self.name, self._get_module_for_linking().as_bitcode()


class KernelCodegen(codegen.JITCPUCodegen):
    """The code generator for the processor, with an execution engine of its own."""

    _library_class = KernelLibrary

    def __init__(self, processor: str):
        self._processor = processor
        super().__init__("drystone")

    def _get_host_cpu_name(self) -> str:
        return self._processor or llvm.get_host_cpu_name()

    def _get_host_cpu_features(self) -> str:
        return "" if self._processor else codegen.get_host_cpu_features()

    def load_object(self, name: str, object_code: bytes, symbols: list[str]) -> KernelLibrary:
        library = self.create_library(name)
        library.enable_object_caching()
        library._set_compiled_object(object_code)
        library._finalized = True
        library.emit()
        self._engine._defined_symbols.update(symbols)
        return library

    def load_bitcode(self, name: str, bitcode: bytes) -> KernelLibrary:
        library = self.create_library(name)
        library._final_module = library._shared_module = llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library


class KernelContext(cpu.CPUContext):
    """Numba's context for the processor, with all its registered implementations, but with the code generator of drystone."""

    def __init__(self, parent: cpu.CPUContext, processor: str):
        self.__dict__.update(parent.__dict__)
        self._internal_codegen = KernelCodegen(processor)
        self.cached_internal_func: dict[Any, Any] = {}

    def mangler(self, name: str, types: Any, *, abi_tags: Any = (), uid: int | None = None) -> str:
        """The symbol of a function, the same in every process, as callers may have been compiled in another process."""
        key = digest_texts([*map(describe_type, types), *abi_tags])[:16]
        named = uid is None or "<" not in name
        return default_mangler(f"{name}_{key}", (), abi_tags=(), uid=None if named else uid)


class KernelTarget(TargetDescriptor):
    """The target description that a dispatcher of Numba needs."""

    options = cpu.CPUTargetOptions

    @property
    def typing_context(self) -> Any:
        return registry.cpu_target.typing_context

    @threadsafe_cached_property
    def target_context(self) -> KernelContext:
        with global_compiler_lock:
            return KernelContext(registry.cpu_target.target_context, target_processor())


kernel_target = KernelTarget("cpu")
