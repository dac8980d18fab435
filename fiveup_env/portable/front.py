"""The LLVM code of compiled functions as Numba makes it, joined before anything is optimised.

Numba finishes each function with all that it calls, again at every level of calls. Here each is
translated once, and all are joined in one module, for the caller to optimise and to link.
Nothing that is made here can be called in this process.
"""

from __future__ import annotations

import gc
import hashlib
import re
import subprocess
import sys
import typing
from typing import TYPE_CHECKING, Any, Final

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import codegen, cpu
from numba.core.registry import cpu_target

from fiveup_env.errors import InputError
from fiveup_env.native import dispatchers
from fiveup_env.native.kinds import Entries, Unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

SLOTS: Final = 1024  # as in `glue.c`
RESULTS: Final = 64
NUMBERS: Final = {int: ("i", types.int64), float: ("d", types.float64), bool: ("b", types.boolean)}


_LONG: Final = re.compile(r'@"(\w{48})[^"]{16,}"')


class BuildError(InputError):
    """A tool that is missing, or a function that cannot be compiled for another machine."""


class _Loose(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of one function, without that of others."""

    made: Final[list[_Loose]] = []
    others: Final[dict[Any, None]] = {}  # libraries that are finished already: Numba's own

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.made.append(self)

    def add_ir_module(self, module: ir.Module) -> None:
        """Add code, with short names for what has long ones: most have the fields of structs."""
        self.add_llvm_module(llvm.parse_assembly(shortened(str(module))))

    def _optimize_functions(self, module: Any) -> None:
        """Leave it for later."""

    def add_linking_library(self, library: Any) -> None:
        """Note a library of Numba's own."""
        if not isinstance(library, _Loose):
            self.others[library] = None

    def finalize(self) -> None:
        """Leave it for later."""
        self._finalized = True


def shortened(text: str) -> str:
    """Return code in which long names are digests of themselves."""
    return _LONG.sub(
        lambda name: f"@{name[1]}_{hashlib.sha256(name[0].encode()).hexdigest()[:32]}", text
    )


def begin() -> None:
    """Let Numba translate functions, and do no more, from now on."""
    gc.disable()  # it would take a third of the time
    dispatchers.KEPT = False
    numba.njit(lambda array: array).compile(
        (types.float64[:],)
    )  # which makes Numba's own libraries
    codegen.JITCPUCodegen._library_class = _Loose  # noqa: SLF001 - Numba offers no other way
    cpu.CPUContext.get_executable = lambda *_: [].append  # which Numba wants to be built in


def translate(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """Translate a function of Python or Numba; return Numba's description of the result."""
    made: Any = function
    if not hasattr(made, "compile"):
        made = numba.njit(function, error_model="numpy", nogil=True)
    try:
        made.compile(signature)
    except numba.NumbaError as error:
        raise BuildError(f"{made.__name__} cannot be compiled: {_reason(error)}") from error
    return made.overloads[signature].fndesc


def _reason(error: Exception) -> str:
    """Return the line of Numba's error that says what is wrong, without where it was found."""
    lines = (line.strip() for line in str(error).splitlines())
    return next(line for line in lines if line and not line.startswith("Failed in "))


def joined(triple: str, layout: str, text: str = "") -> llvm.ModuleRef:
    """Return one module of all that was translated and of some code, for a target."""
    module = llvm.parse_assembly(shortened(text))
    module.triple, module.data_layout = triple, layout
    parts = [each._final_module for each in _Loose.made]  # noqa: SLF001
    parts += [each._get_module_for_linking() for each in _Loose.others]  # noqa: SLF001
    for part in parts:
        part.triple, part.data_layout = triple, layout
        for each in part.functions:
            if not each.is_declaration and each.linkage != llvm.Linkage.internal:
                each.linkage = "weak_odr"
        for each in part.global_variables:
            if each.linkage == llvm.Linkage.common:
                each.linkage = "weak_any"
    while len(parts) > 1:  # two by two, since it takes as long as what is joined is large
        for left, right in zip(parts[::2], parts[1::2], strict=False):
            left.link_in(right, preserve=True)
        parts = parts[::2]
    module.link_in(parts[0])
    return module


def hide_all_but(module: llvm.ModuleRef, kept: Collection[str]) -> None:
    """Make everything but some functions internal, so that what nobody calls goes."""
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name not in kept:
            item.linkage = "internal"
            item.visibility = "default"


def optimise(
    module: llvm.ModuleRef, machine: llvm.TargetMachine, level: int = 2, *, vectorise: bool = True
) -> None:
    """Optimise a module as a whole."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = tuning.slp_vectorization = vectorise
    builder = llvm.create_pass_builder(machine, tuning)
    # What inlines comes first, so that Numba's own pass can remove counts of references; before it
    # tuples that are packed and unpacked go, which would take long in what is large.
    first = llvm.create_new_module_pass_manager()
    first.add_sroa_pass()
    first.add_always_inliner_pass()
    first.add_refprune_pass()
    first.run(module, builder)
    builder.getModulePassManager().run(module, builder)
    last = llvm.create_new_module_pass_manager()
    last.add_refprune_pass()
    last.add_global_dead_code_eliminate_pass()
    last.run(module, builder)


def refuse_unknown(module: llvm.ModuleRef, known: Collection[str]) -> None:
    """Raise BuildError if a function is called that the target has not."""
    for function in module.functions:
        name = function.name
        if function.is_declaration and not name.startswith("llvm.") and name not in known:
            raise BuildError(
                f"compiled code calls {name}, which no other machine has: what is portable makes "
                "memory by np.zeros and np.empty alone, and has no strings, lists, dicts or threads"
            )


def run_zig(*command: str) -> None:
    """Run a tool of zig; raise BuildError if it fails."""
    try:
        subprocess.run([sys.executable, "-m", "ziglang", *command], check=True)
    except subprocess.CalledProcessError as error:
        raise BuildError(f"zig {command[0]} failed: is ziglang installed?") from error


# --- Kinds


class Forms:
    """The kinds of arguments as texts, for `glue.c`, and as Numba's types."""

    def __init__(self) -> None:
        self.dtypes: list[np.dtype] = []

    def of_function(self, function: Callable[..., Any]) -> tuple[str, tuple[Any, ...]]:
        """Return the form and the types of the arguments of a function."""
        code, hints = function.__code__, function.__annotations__
        names = code.co_varnames[: code.co_argcount]
        kinds = [self._of(eval(hints[name], function.__globals__)) for name in names]  # noqa: S307
        return "".join(form for form, _ in kinds), tuple(kind for _, kind in kinds)

    def _of(self, kind: Any) -> tuple[str, Any]:
        if kind in NUMBERS:
            return NUMBERS[kind]
        for about in getattr(kind, "__metadata__", ()):
            if isinstance(about, Unsigned):
                return "w", types.uint64
            if isinstance(about, Entries):
                return self._of_array(np.dtype(about.dtype), about.dimensions)
            return self._of_tuple(about, None)
        if typing.get_origin(kind) is tuple:
            return self._of_tuple(typing.get_args(kind), None)
        if hasattr(kind, "_fields"):
            names = sys.modules[kind.__module__].__dict__
            hints = typing.get_type_hints(kind, names, include_extras=True)
            return self._of_tuple([hints[name] for name in kind._fields], kind)
        raise BuildError(f"{kind} is not a kind of an argument")

    def _of_array(self, dtype: np.dtype, dimensions: int) -> tuple[str, Any]:
        if dtype not in self.dtypes:
            self.dtypes.append(dtype)
        form = f"A{chr(32 + self.dtypes.index(dtype))}{chr(32 + dimensions)}"
        return form, types.Array(numba.from_dtype(dtype), dimensions, "C")

    def _of_tuple(self, kinds: typing.Sequence[Any], of: type | None) -> tuple[str, Any]:
        parts = [self._of(kind) for kind in kinds]
        form = f"({chr(32 + len(parts))}" + "".join(form for form, _ in parts)
        return form, types.BaseTuple.from_types([kind for _, kind in parts], of)


def form_of_result(kind: Any) -> str:
    """Return the form of what a function returns."""
    if isinstance(kind, types.NoneType):
        return "n"
    if isinstance(kind, types.Boolean):
        return "b"
    if isinstance(kind, types.Integer):
        return "i" if kind.signed else "w"
    if isinstance(kind, types.Float):
        return "d"
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return f"({chr(32 + len(kind))}" + "".join(map(form_of_result, kind))
    raise BuildError(f"no compiled function can return {kind} to Python")


def write_thunk(module: ir.Module, name: str, description: Any) -> None:
    """Add a function that calls a translated one: slots of 64 bits in, and slots out."""
    context, wide = cpu_target.target_context, ir.IntType(64)
    called = context.declare_function(module, description)
    slot = wide.as_pointer()
    thunk = ir.Function(module, ir.FunctionType(ir.IntType(32), [slot, slot]), name)
    builder = ir.IRBuilder(thunk.append_basic_block())
    value_at, raised_at = (builder.alloca(each.type.pointee) for each in called.args[:2])
    builder.store(ir.Constant(value_at.type.pointee, None), value_at)
    given = []
    for k, argument in enumerate(called.args[2:]):
        place = builder.gep(thunk.args[0], [wide(k)])
        given.append(builder.load(builder.bitcast(place, argument.type.as_pointer())))
    status = builder.call(called, [value_at, raised_at, *given])
    written = 0

    def write(value: Any, kind: Any) -> None:
        nonlocal written
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                write(builder.extract_value(value, k), part)
            return
        if isinstance(kind, types.Float):
            if value.type != ir.DoubleType():
                value = builder.fpext(value, ir.DoubleType())
            value = builder.bitcast(value, wide)
        elif value.type != wide:
            signed = isinstance(kind, types.Integer) and kind.signed
            value = (builder.sext if signed else builder.zext)(value, wide)
        builder.store(value, builder.gep(thunk.args[1], [wide(written)]))
        written += 1

    if not isinstance(description.restype, types.NoneType):
        write(builder.load(value_at), description.restype)
    if len(given) > SLOTS or written > RESULTS:
        raise BuildError(f"{description.qualname} takes or returns too many numbers and arrays")
    builder.ret(status)
