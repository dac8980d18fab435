"""The library that was built of all compiled functions, and its functions as Python calls them.

`python -m fiveup_env.portable native` builds it, and installing does. It serves this source alone:
`library.json` beside it holds digests of what it was built from, and of the library itself.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
from ast import literal_eval
from inspect import signature
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib.format import descr_to_dtype

from fiveup_env.native.interpreted import HELD
from fiveup_env.native.sources import PACKAGE, digest_of

SUFFIX: Final = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
FOLDER: Final = Path(__file__).parent / "built"
# Functions and objects that the library takes, in the order of `portable/glue.c`.
API: Final = (
    *("PyLong_FromLongLong", "PyLong_FromUnsignedLongLong", "PyBool_FromLong"),
    *("PyFloat_FromDouble", "PyTuple_New", "PyLong_AsLongLong", "PyLong_AsUnsignedLongLongMask"),
    *("PyFloat_AsDouble", "PyObject_IsTrue", "PyObject_IsInstance", "PyObject_RichCompareBool"),
    *("PyTuple_SetItem", "PyTuple_Size", "PyTuple_GetItem", "PyErr_Occurred"),
    *("PyObject_CallFunctionObjArgs", "PyCFunction_NewEx", "PyCapsule_GetPointer"),
    *("PyCapsule_New", "Py_IncRef", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread"),
)


class Library:
    """A library that is loaded, with what `library.json` says of it.

    Attributes:
        path: where it is.
        level: the level of processors whose code serves.
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        code: Any = ctypes.PyDLL(str(path))
        self._functions: dict[str, list[Any]] = about["functions"]
        self._numbers = {name: k for k, name in enumerate(self._functions)}
        kinds = [descr_to_dtype(literal_eval(text)) for text in about["dtypes"]]
        objects = (None, np.ndarray, tuple, self._refuse)
        words = [
            ctypes.cast(getattr(ctypes.pythonapi, each), ctypes.c_void_p).value for each in API
        ]
        handed_in = _pointers([*words, *map(id, objects), object.__basicsize__])
        dtypes = _pointers([number for kind in kinds for number in (id(kind), kind.itemsize)])
        level = _level(about["levels"], code.fiveup_level())
        self.path, self.level = path, about["levels"][level]
        code.fiveup_begin(handed_in, dtypes, level)
        self._make, self._kept = code.fiveup_function, (kinds, objects, dtypes)
        self._make.restype = ctypes.py_object
        self._texts: list[bytes] = []  # which its functions read as long as they live

    def get(self, function: Any) -> Any:
        """Return a function of the library, or the same one if the library has none of its name."""
        name, python = _name(function), function.python
        if name not in self._functions:
            return function
        form, result, count = self._functions[name]
        texts = [(each or "").encode() for each in (python.__name__, python.__doc__, form, result)]
        self._texts += texts
        made = self._make(self._numbers[name], *texts, count)
        HELD[made] = FUNCTIONS[name] = function
        return made

    def _refuse(self, number: int, given: tuple[Any, ...] | None) -> None:
        """Raise an error that says what is wrong with a call."""
        name = list(self._functions)[number]
        if given is None:
            raise RuntimeError(f"{name}() failed")
        takes = str(signature(FUNCTIONS[name].python)).replace("'", "")
        has = ", ".join(map(_described, given))
        raise TypeError(f"{name}{takes} cannot be called with ({has})")


FUNCTIONS: Final[dict[str, Any]] = {}  # those of the library, by name


def found(folder: Path = FOLDER) -> Library | str:
    """Return the library, or the reason why there is none for this source, as a sentence."""
    if os.environ.get("FIVEUP_ENGINE") == "numba":
        return "FIVEUP_ENGINE is numba"
    path = folder / f"library.{SUFFIX}"
    try:
        about = json.loads(path.with_suffix(".json").read_bytes())
        code = path.read_bytes()
        if digest_of(frozenset(PACKAGE / name for name in about["sources"])) != about["digest"]:
            return "the library of compiled functions was built of other source"
        if hashlib.sha256(code).hexdigest() != about["file"]:
            return f"{path.name} is damaged, or is not the one that was built"
        return Library(path, about)
    except FileNotFoundError:
        return "there is no library of compiled functions for this system"
    except (OSError, ValueError, KeyError) as error:
        return f"{path.name} cannot be loaded: {error}"


def _level(levels: list[str], highest: int) -> int:
    """Return which of the levels of processors in the library serves this one."""
    wanted = os.environ.get("FIVEUP_ENGINE")
    if wanted in levels:
        return levels.index(wanted)
    fitting = [k for k, level in enumerate(levels) if not highest or int(level[-1]) <= highest]
    if not fitting:
        raise OSError(f"the processor is older than {levels[0]}")
    return fitting[-1]


def _pointers(numbers: list[Any]) -> Any:
    return (ctypes.c_void_p * len(numbers))(*numbers)


def _name(function: Any) -> str:
    return f"{function.python.__module__}.{function.python.__qualname__}"


def _described(value: Any) -> str:
    """Return what an argument is, in a few words."""
    if isinstance(value, np.ndarray):
        kind = "struct" if value.dtype.names else value.dtype
        return f"{kind}{list(value.shape)}{'' if value.flags.c_contiguous else ', not contiguous'}"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(_described, value))})"
    return type(value).__name__
