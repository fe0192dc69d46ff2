"""Compiled code: the decorators, and what they need to compile each function once and find it again."""

from drystone.base.kernel.dispatch import announce_compiling, compilations, inlined, inner, is_compiled, kernel, unlocked

__all__ = ["announce_compiling", "compilations", "inlined", "inner", "is_compiled", "kernel", "unlocked"]
