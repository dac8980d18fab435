"""The library that Python loads: all functions that it calls, for several levels of processors.

The functions are shared between two processes. Each translates its own and writes an object for
every level; zig links them with `glue.c`, for this system or for another.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numpy.lib.format import dtype_to_descr

import fiveup_env
from fiveup_env.errors import MissingExtraError, unknown
from fiveup_env.files import write_atomic
from fiveup_env.native import functions
from fiveup_env.native.sources import PACKAGE, digest_of, module_sources
from fiveup_env.portable import front
from fiveup_env.portable.front import BuildError, run_zig

if TYPE_CHECKING:
    from fiveup_env.native.functions import Function

GLUE: Final = Path(__file__).with_name("glue.c")
# What compiled code calls: the runtime in `glue.c`, and functions of C.
KNOWN: Final = {
    *("NRT_Allocate", "NRT_Free", "NRT_MemInfo_alloc", "NRT_MemInfo_alloc_aligned"),
    *(
        "NRT_MemInfo_call_dtor",
        "PyErr_SetString",
        "fiveup_give_way",
        "numba_attempt_nocopy_reshape",
    ),
    *("floor", "log1p", "memcpy", "memmove", "memset", "rint", "sqrt", "sqrtf"),
}


LEFT_OUT: Final = tuple(
    f"fiveup_env.{room}" for room in ("cli", "doors", "jax", "play", "portable", "programs")
)


class Target(NamedTuple):
    """A system to build for."""

    triple: str  # as LLVM names it
    zig: str  # as zig does, with the oldest version of the system
    suffix: str
    levels: tuple[str, ...]
    platform: str  # in the names of wheels


LEVELS: Final = {
    "x86-64-v2": ("sse4.2",),
    "x86-64-v3": ("avx2", "bmi2", "fma"),
    "x86-64-v4": ("avx512bw", "avx512dq", "avx512vl"),
}
X86: Final = tuple(LEVELS)
ARM: Final = ("generic",)
TARGETS: Final = {
    "linux-x86_64": Target(
        "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "so", X86, "manylinux2014_x86_64"
    ),
    "linux-aarch64": Target(
        "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", "so", ARM, "manylinux2014_aarch64"
    ),
    "darwin-arm64": Target(
        "arm64-apple-macosx11.0", "aarch64-macos.11.0", "dylib", ARM, "macosx_11_0_arm64"
    ),
    "darwin-x86_64": Target(
        "x86_64-apple-macosx10.13", "x86_64-macos.10.13", "dylib", X86, "macosx_10_13_x86_64"
    ),
    "win32-amd64": Target("x86_64-pc-windows-gnu", "x86_64-windows-gnu", "dll", X86, "win_amd64"),
}


def build_native(folder: Path, name: str = "", *, here: bool = False) -> Path:
    """Write the library of a target into a folder; return its path.

    The target is this system by default. With `here`, it is for the level of this processor alone.
    Raises BuildError if it cannot be built.
    """
    name = name or f"{sys.platform}-{platform.machine().lower()}"
    if name not in TARGETS:
        raise BuildError(unknown("target", name, TARGETS))
    target = TARGETS[name]
    library = folder / f"library.{target.suffix}"
    levels = [_level_here()] if here and target.levels == X86 else list(target.levels)
    made = {"platform": target.platform, "levels": levels}
    if _is_made(library, made):
        return library
    with tempfile.TemporaryDirectory() as work:
        results, dtypes = _compile(name, levels, Path(work))
        linked = Path(work) / library.name
        _link(target, linked, len(results), len(levels))
        code = linked.read_bytes()
    files = (module_sources(each.file) for each in called().values())
    sources = frozenset({GLUE}).union(*files)
    about = made | {
        "digest": digest_of(sources),
        "file": hashlib.sha256(code).hexdigest(),
        "sources": sorted(path.relative_to(PACKAGE).as_posix() for path in sources),
        "dtypes": dtypes,
        "functions": results,
    }
    folder.mkdir(exist_ok=True)
    for old in folder.glob("library.*"):
        old.unlink()
    write_atomic(library, code)
    write_atomic(library.with_suffix(".json"), json.dumps(about, indent=1).encode())
    return library


def _is_made(library: Path, wanted: dict[str, Any]) -> bool:
    """Return whether there is such a library already, of this source."""
    try:
        about = json.loads(library.with_suffix(".json").read_bytes())
        sources = frozenset(PACKAGE / name for name in about["sources"])
        wanted = wanted | {
            "digest": digest_of(sources),
            "file": hashlib.sha256(library.read_bytes()).hexdigest(),
        }
    except (OSError, ValueError, KeyError):
        return False
    return wanted.items() <= about.items()


def _compile(name: str, levels: list[str], work: Path) -> tuple[dict[str, Any], list[str]]:
    """Let processes compile their shares; return the results of functions, and the dtypes."""
    shares = min(2, os.cpu_count() or 1)  # each translates the rules again
    command = [sys.executable, "-m", "fiveup_env.portable.native", name, str(work), str(shares)]
    running = [subprocess.Popen([*command, str(share), *levels]) for share in range(shares)]
    if sum(each.wait() for each in running):
        raise BuildError("the functions could not be compiled")
    told = [json.loads((work / f"{share}.json").read_bytes()) for share in range(shares)]
    results = {key: result for each in told for key, result in each["results"].items()}
    return dict(sorted(results.items())), told[0]["dtypes"]


def _level_here() -> str:
    """Return the level of this processor."""
    has = llvm.get_host_cpu_features()
    fitting = [level for level, features in LEVELS.items() if all(map(has.get, features))]
    return fitting[-1] if fitting else X86[0]


def called() -> dict[str, Function]:
    """Return the functions of the package that Python calls, by name, in a fixed order."""
    for module in walk_packages(fiveup_env.__path__, "fiveup_env."):
        with suppress(MissingExtraError):  # by a room that compiles nothing
            if not module.name.startswith(LEFT_OUT):
                import_module(module.name)
    own = [each for each in functions.CALLED if each.python.__module__.startswith("fiveup_env.")]
    return dict(sorted((f"{f.python.__module__}.{f.python.__qualname__}", f) for f in own))


def _link(target: Target, library: Path, count: int, levels: int) -> None:
    """Link the objects beside a library's place with the glue."""
    lines = ["#include <stdint.h>", "typedef int Run(const int64_t *, int64_t *);"]
    for level in range(levels):
        names = [f"fiveup_run_{level}_{k}" for k in range(count)]
        lines.append(f"extern Run {', '.join(names)};")
        lines.append(f"static Run *const runs_{level}[] = {{{', '.join(names)}}};")
    tables = ", ".join(f"runs_{level}" for level in range(levels))
    lines.append(f"static Run *const *const levels[] = {{{tables}}};")
    write_atomic(library.parent / "runs.h", "\n".join(lines).encode())
    run_zig(
        *("cc", "-target", target.zig, "-shared", "-O2", "-s", "-fvisibility=hidden"),
        *("-include", str(library.parent / "runs.h"), "-o", str(library), str(GLUE)),
        *map(str, sorted(library.parent.glob("*.o"))),
    )


def _compile_share(name: str, work: Path, shares: int, share: int, *levels: str) -> None:
    """Write the objects of a share of the functions, and what they return."""
    front.begin()
    forms, thunks, results = front.Forms(), ir.Module(), {}
    for k, (key, function) in enumerate(called().items()):
        form, signature = forms.of_function(function.python)
        if _share_of(key, shares) != share:
            continue
        made = front.translate(function.dispatcher, signature)
        front.write_thunk(thunks, f"fiveup_run_{k}", made)
        results[key] = form, front.form_of_result(made.restype), len(signature)
    target = TARGETS[name]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    chosen, whole = llvm.Target.from_triple(target.triple), b""
    for number, level in enumerate(levels):
        machine = chosen.create_target_machine(cpu=level, opt=3, reloc="pic")
        if not whole:
            layout = str(machine.target_data)
            whole = front.joined(target.triple, layout, str(thunks)).as_bitcode()
        module = llvm.parse_bitcode(whole)
        names = [each.name for each in module.functions if each.name.startswith("fiveup_run_")]
        front.hide_all_but(module, names)
        for each in names:
            module.get_function(each).name = each.replace("run_", f"run_{number}_")
        front.optimise(module, machine, 3)
        front.refuse_unknown(module, KNOWN)
        write_atomic(work / f"{share}-{level}.o", machine.emit_object(module))
    told = {"dtypes": [repr(dtype_to_descr(each)) for each in forms.dtypes], "results": results}
    write_atomic(work / f"{share}.json", json.dumps(told).encode())


def _share_of(key: str, shares: int) -> int:
    """Return whose function is whose: what learns is about as much as all the rest."""
    return int(key.startswith("fiveup_env.learning.")) % shares


if __name__ == "__main__":
    name, work, shares, share, *levels = sys.argv[1:]
    _compile_share(name, Path(work), int(shares), int(share), *levels)
