"""The decorators of compiled functions, and what a function is where it is called.

A function that Python calls is taken from the library that was built of all of them. Where there is
none for this source, Numba compiles it when it is first called. With NUMBA_DISABLE_JIT=1 everything
is Python; so is, where Numba is not installed, what the library has not.
"""

from __future__ import annotations

import logging
import os
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fiveup_env.native.interpreted import interpreted
from fiveup_env.native.library import Library, found

if TYPE_CHECKING:
    from collections.abc import Callable

Called = TypeVar("Called", bound="Callable[..., Any]")

IS_PYTHON: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
LIBRARY: Final = "NUMBA_DISABLE_JIT is set" if IS_PYTHON else found()  # or why there is none
CALLED: Final[list[Function]] = []  # all that Python calls


class Function:
    """A function for compiled code.

    Attributes:
        python: the function as it is written.
        is_called: whether Python calls it.
        is_inlined: whether it becomes a part of its callers.
        file: its module's.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self, python: Callable[..., Any], *, is_called: bool = False, is_inlined: bool = False
    ) -> None:
        self.python, self.is_called, self.is_inlined = python, is_called, is_inlined
        self.file = Path(python.__code__.co_filename)
        update_wrapper(self, python)

    def __call__(self, *arguments: Any) -> Any:
        """Call it as machine code or as Python."""
        return self._chosen(*arguments)

    @cached_property
    def _chosen(self) -> Callable[..., Any]:
        has_numba = find_spec("numba") is not None
        if IS_PYTHON or (isinstance(LIBRARY, Library) and not has_numba):
            return self.in_python
        if not has_numba:
            raise ImportError(f"{LIBRARY}; pip install 'fiveup-env[numba]' to compile it here")
        if self.python.__module__.startswith("fiveup_env."):
            _tell()
        return self.dispatcher

    @cached_property
    def in_python(self) -> Callable[..., Any]:
        """The function as Python."""
        return interpreted(self.python)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as Numba's."""
        from fiveup_env.native.dispatchers import dispatcher

        return dispatcher(self)

    @property
    def _numba_type_(self) -> Any:
        from numba import types

        return types.Dispatcher(self.dispatcher)


@cache
def _tell() -> None:
    """Explain the wait, once, wherever warnings are logged."""
    if isinstance(LIBRARY, str) and os.environ.get("FIVEUP_ENGINE") != "numba":
        message = (
            "%s: Numba compiles each when it is first called (python -m fiveup_env.portable native)"
        )
        logging.getLogger("fiveup_env").warning(message, LIBRARY)


class Instruction:
    """What is one instruction in compiled code.

    A function of the same name in `code`, beside its module, generates it; as Python it is what is
    written.
    """

    def __init__(self, python: Callable[..., Any]) -> None:
        self.in_python = python
        update_wrapper(self, python)

    def __call__(self, *arguments: Any) -> Any:
        """Do as Python what it does in compiled code."""
        return self.in_python(*arguments)

    @cached_property
    def _numba_type_(self) -> Any:
        from fiveup_env.native.dispatchers import type_of_instruction

        code = import_module(self.in_python.__module__.rpartition(".")[0] + ".code")
        return type_of_instruction(getattr(code, self.in_python.__name__))


def compiled(function: Called) -> Called:
    """Compile a function that Python calls.

    Its annotations say what it takes: numbers, arrays by the names in `kinds`, and tuples of them.
    """
    made = Function(function, is_called=True)
    CALLED.append(made)
    return LIBRARY.get(made) if isinstance(LIBRARY, Library) else made  # type: ignore[return-value]


def inner(function: Called) -> Called:
    """Compile a function that only compiled code calls."""
    return Function(function)  # type: ignore[return-value]


def inlined(function: Called) -> Called:
    """Compile a small function into its callers, for functions that every move calls."""
    return Function(function, is_inlined=True)  # type: ignore[return-value]


def instruction(function: Called) -> Called:
    """Make a function one instruction in compiled code."""
    return Instruction(function)  # type: ignore[return-value]
