"""How compiled functions are called: as Python, as machine code, or as a part of other code."""

from __future__ import annotations

import gc
import logging
import time
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from numba.core import event, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import (
    InlineOverloads,
    NopythonRewrites,
    NoPythonSupportedFeatureValidation,
)
from numba.core.types.misc import unliteral
from numba.core.untyped_passes import InlineClosureLikes

from fiveup_env.engine.code_cache import PACKAGE
from fiveup_env.engine.interpreted import interpreted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPTIONS: Final = {
    "nopython": True,
    "nogil": True,
    "boundscheck": None,  # as the environment says
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nothing here is called back from C, and it takes time to make
}
PATIENCE: Final = 2.0  # seconds of calls as Python before compiling pays
FEW: Final = 8  # entries of an array that are handled as Python

_MAKING = RLock()
_COPIES: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}  # by the identity of the first


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Look for no garbage meanwhile, which takes a tenth of the time of compiling."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as Python that calls others as Python, too, and leaves its module alone."""
    with _MAKING:  # no thread is given a copy that another has not finished
        body = FunctionType(
            function.__code__,
            _names_in_python(function.__globals__),
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        return interpreted(body)


def _names_in_python(names: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a module's names, the same for all its functions, with these as Python."""
    if id(names) not in _COPIES:
        copy = dict(names)
        _COPIES[id(names)] = names, copy
        copy |= {
            name: value.in_python for name, value in names.items() if hasattr(value, "in_python")
        }
    return _COPIES[id(names)][1]


class Entry(CPUDispatcher):  # type: ignore[misc]
    """A function as Python calls it: machine code of its own, kept on disk.

    Compiled callers get its part. Numba would optimize, translate and keep each of them with all
    that it calls, again at every level of calls, which takes twice the time. One that is compiled
    `later` is called as Python first, unless the disk has its machine code.
    """

    seconds = 0.0  # that calls as Python have taken, of all functions together

    def __init__(
        self,
        py_func: Any,
        locals: Any = None,  # noqa: A002 - so Numba names them when it unpickles one
        targetoptions: Any = None,
        *,
        inline: bool = False,
        later: bool = False,
    ) -> None:
        options = targetoptions or OPTIONS | {"forceinline": inline}
        super().__init__(py_func, locals or {}, options, _Compiler)
        self.part = _Part(py_func, {}, options | {"no_cpython_wrapper": True}, _PartCompiler)
        self.is_later = later

    @property
    def _numba_type_(self) -> types.Dispatcher:
        return types.Dispatcher(self.part)

    @cached_property
    def in_python(self) -> Callable[..., Any]:
        """The function as Python."""
        return _in_python(self.py_func)

    def add_overload(self, result: Any) -> None:
        """Make machine code known to Python, with what its parts refer to."""
        for environment in result._find_referenced_environments():  # noqa: SLF001 - of its parts
            result.library.codegen.set_env(environment.env_name, environment)
        super().add_overload(result)

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        """Return the callable for arguments for which there is no machine code yet."""
        is_early = self.is_later and Entry.seconds < PATIENCE
        if is_early and len(arguments[0]) <= FEW and not self.is_kept:
            return self._timed
        with _garbage_kept():
            return super()._compile_for_args(*arguments, **named)

    @cached_property
    def is_kept(self) -> bool:
        """Whether the disk has machine code of it."""
        index = getattr(getattr(self._cache, "_cache_file", None), "_index_path", None)
        return index is not None and Path(index).exists()

    def _timed(self, *arguments: Any) -> Any:
        before = time.perf_counter()
        try:
            return self.in_python(*arguments)
        finally:
            Entry.seconds += time.perf_counter() - before


class _Part(CPUDispatcher):  # type: ignore[misc]
    """A function as compiled code calls it: its callers optimize and translate it as their own."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        # Not compiled once more for each constant that it is called with.
        return super().get_call_template(tuple(unliteral(each) for each in args), kws)

    def add_overload(self, result: Any) -> None:
        key = object()  # in place of machine code, by which Numba finds a function
        self.targetctx.insert_user_function(key, result.fndesc, [result.library])
        self.overloads[tuple(result.signature.args)] = result._replace(entry_point=key)


# Passes for what no function here has: closures, and arithmetic with whole arrays.
UNNEEDED: Final = {InlineClosureLikes, InlineOverloads, NopythonRewrites}
# What gives no array but one that its operands hold.
BORROWING: Final = {
    *("build_tuple", "cast", "exhaust_iter", "getattr", "getitem", "getiter", "iternext"),
    *("pair_first", "pair_second", "phi", "static_getitem", "typed_getitem"),
}


@register_pass(mutates_CFG=False, analysis_only=False)
class _CountReferences(FunctionPass):  # type: ignore[misc]
    """Count references to memory only in functions that make or return some.

    Others have them from their callers, who hold them meanwhile. To count is a locked write, which
    threads that share an array wait for.
    """

    _name = "count_references"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Decide it for a function whose types are known."""
        models, kinds = state.targetctx.data_model_manager, state.typemap

        def is_held(kind: Any) -> bool:
            return bool(models[kind].contains_nrt_meminfo())

        def makes_memory(statement: Any) -> bool:
            if isinstance(statement, (ir.SetItem, ir.StaticSetItem)):
                return is_held(kinds[statement.value.name])  # which is copied where both overlap
            if isinstance(statement, ir.DynamicRaise):
                return True  # what it tells is kept in memory
            value = getattr(statement, "value", None)
            if not isinstance(statement, ir.Assign) or not isinstance(value, ir.Expr):
                return False
            by_array = value.op == "getitem" and is_held(kinds[value.index.name])
            borrows = value.op in BORROWING and not by_array
            return not borrows and is_held(kinds[statement.target.name])

        blocks = state.func_ir.blocks.values()
        state.targetctx.enable_nrt = is_held(state.return_type) or any(
            makes_memory(statement) for block in blocks for statement in block.body
        )
        return True


class _Flags(Flags):  # type: ignore[misc]
    """Flags that nobody changes: Numba copies them, and looks for them in tables, all the time."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def copy(self) -> _Flags:
        return self


_FLAGS: dict[str, _Flags] = {}


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Machine code for Python."""

    def _optimize_final_module(self) -> None:
        """Optimize once: Numba does it twice, to find more references that need no counting."""
        manager, builder = self._codegen._module_pass_manager()  # noqa: SLF001 - Numba's own way
        manager.run(self._final_module, builder)


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code to link into others."""

    def _optimize_final_module(self) -> None:
        """Leave it to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Compiler(Compiler):  # type: ignore[misc]
    library: type[JITCodeLibrary] = _Library

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        state = self.state
        state.library = self.library(state.targetctx.codegen(), "compiled")
        state.library.enable_object_caching()
        state.flags.no_compile = self.library is _PartLibrary
        state.flags = _FLAGS.setdefault(repr(state.flags), _Flags(state.flags))

    def define_pipelines(self) -> list[Any]:
        [passes] = super().define_pipelines()
        passes.passes = [each for each in passes.passes if each[0] not in UNNEEDED]
        passes.add_pass_after(_CountReferences, NoPythonSupportedFeatureValidation)
        passes.finalize()
        return [passes]


class _PartCompiler(_Compiler):
    """Compiles a function as far as its callers need it."""

    library = _PartLibrary


class _Notice(event.Listener):  # type: ignore[misc]
    """Explains the wait of the first run, once, wherever warnings are logged."""

    is_logged = False

    def on_start(self, started: event.Event) -> None:
        dispatcher = started.data["dispatcher"]
        is_ours = isinstance(dispatcher, Entry) and dispatcher.__module__.startswith(PACKAGE.name)
        if is_ours and not self.is_logged:
            self.is_logged = True
            logging.getLogger(PACKAGE.name).warning(
                "compiling for this machine, once: 5 to 20 seconds (all at once: fiveup warm)"
            )

    def on_end(self, ended: event.Event) -> None:
        """Do nothing."""


event.register("numba:compile", _Notice())


def compile_now() -> None:
    """Play nothing as Python from now on: where moves are timed, their compiling must not be."""
    Entry.seconds = PATIENCE
