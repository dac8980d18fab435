"""From Numba's LLVM IR to a WebAssembly module or a library for this machine.

Numba compiles each entry to IR that it does not optimise (NUMBA_OPT=0). All of it becomes one
module for the target, is optimised as a whole, and linked by `wasm-ld` or by the C compiler.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import llvmlite.binding as llvm
import numba

from fiveup_env.errors import InputError
from fiveup_env.files import write_atomic
from fiveup_env.portable import (  # noqa: F401 - they have the entries
    agents,
    beliefs,
    games,
    judging,
    learning,
    pictures,
)
from fiveup_env.portable.calls import CODES, ENTRIES, WORD, Entry
from fiveup_env.portable.runtime import ALLOCATION, LIBRARY, MODULE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PREFIX: Final = "fiveup_"


class Target(NamedTuple):
    """A target of compilation."""

    triple: str
    features: str
    runtime: str
    exported: tuple[str, ...]  # functions of the runtime that callers need
    kept: tuple[str, ...]  # functions that only the code generator calls
    linker: str
    install: str  # how the linker is installed


LIBC: Final = {
    *("abort", "aligned_alloc", "bcmp", "floor", "free"),
    *("memcpy", "memmove", "memset", "rint", "sqrt", "sqrtf"),
}
WASM: Final = "+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals"
TARGETS: Final = {
    "wasm32": Target(
        "wasm32-unknown-unknown",
        f"{WASM},+simd128",
        MODULE,
        ("fiveup_allocate",),
        ("__multi3",),
        "wasm-ld",
        "apt install lld, or brew install lld",
    ),
    "host": Target(
        llvm.get_process_triple(),
        "",
        LIBRARY,
        (),
        (),
        "cc",
        "apt install gcc, or another C compiler",
    ),
}


class BuildError(InputError):
    """A tool that is missing, or a function that cannot be compiled for another machine."""


class _Compiled(NamedTuple):
    """An entry in Numba's IR."""

    name: str
    entry: Entry
    ir: str
    symbol: str


def modules(target: str, output: Path) -> dict[Path, list[str]]:
    """Return the files that are made for a target, and the functions in each.

    A module for browsers has what a game needs; what learns is in one of its own beside it.
    """
    learns = [name for name in ENTRIES if name.startswith("learning_")]
    if target != "wasm32":
        return {output: [*ENTRIES]}
    plays = [name for name in ENTRIES if name not in learns]
    return {output: plays, output.with_name("learning.wasm"): learns}


def build(
    target: str, output: Path, *, simd: bool = True, names: Collection[str] | None = None
) -> None:
    """Write a module, or a library, with the functions of some names, by default all.

    Raises BuildError if a tool is missing or a function cannot be compiled.
    """
    chosen = TARGETS[target]
    linker = shutil.which(chosen.linker)
    if linker is None:
        raise BuildError(f"{chosen.linker} is not installed; {chosen.install}")
    features = chosen.features if simd else chosen.features.replace(",+simd128", "")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    reloc = {"reloc": "pic"} if target == "host" else {}
    machine = llvm.Target.from_triple(chosen.triple).create_target_machine(
        cpu="generic" if target == "wasm32" else "", features=features, opt=2, **reloc
    )
    entries = list(_compile_entries(ENTRIES if names is None else names))
    module = _join(entries, chosen, str(machine.target_data))
    exported = {f"{PREFIX}{entry.name}" for entry in entries} | set(chosen.exported)
    _hide_all_but(module, exported | set(chosen.kept))
    _optimise(module, machine, vectorise=simd or target == "host")
    _refuse_unknown(module, target)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "fiveup.o"
        write_atomic(made, machine.emit_object(module))
        linked = Path(folder) / output.name
        files = ("-o", str(linked), str(made))
        if target == "wasm32":
            exports = (f"--export={name}" for name in sorted(exported))
            command = ("--no-entry", "--strip-all", "-z", "stack-size=262144", *exports, *files)
        else:
            command = ("-shared", *files, "-lm")
        subprocess.run([linker, *command], check=True)
        write_atomic(output, linked.read_bytes())


def _compile_entries(names: Collection[str]) -> Iterator[_Compiled]:
    warnings.simplefilter("ignore", numba.NumbaWarning)  # that nothing can be kept on disk
    for name in names:
        entry = ENTRIES[name]
        made: Any = numba.njit(
            entry.function, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
        )
        signature = tuple(kind.of for kind in entry.arguments.values())
        try:
            made.compile(signature)
        except numba.NumbaError as error:
            raise BuildError(f"{name} cannot be compiled: {_reason(error)}") from error
        (compiled,) = made.overloads.values()
        if compiled.objectmode:
            raise BuildError(f"{name} cannot be compiled without Python's objects")
        yield _Compiled(
            name, entry, made.inspect_llvm(made.signatures[0]), compiled.fndesc.llvm_func_name
        )


def _reason(error: Exception) -> str:
    """Return the line of Numba's error that says what is wrong, without where it was found."""
    lines = (line.strip() for line in str(error).splitlines())
    return next(line for line in lines if line and not line.startswith("Failed in "))


def _join(entries: list[_Compiled], target: Target, layout: str) -> llvm.ModuleRef:
    """Return one module of all entries, with the runtime, for a target."""
    head = f'target datalayout = "{layout}"\ntarget triple = "{target.triple}"\n'
    wrappers = "\n".join(map(_wrapper, entries))
    module = llvm.parse_assembly(head + wrappers + ALLOCATION + target.runtime)
    for entry in entries:
        lines = entry.ir.replace("= common global", "= weak global").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("target "))
        part = llvm.parse_assembly(head + text)
        for function in part.functions:
            if not function.is_declaration:
                own = function.name == entry.symbol
                function.linkage = "external" if own else "linkonce_odr"
        module.link_in(part)
    module.verify()
    return module


def _wrapper(entry: _Compiled) -> str:
    """Return IR of a function with a plain C signature, which refuses null pointers.

    Numba's function writes its value behind its first argument, and returns a positive status for
    an exception.
    """
    outer, inner, body, nulls = [], [], [], ["false"]
    for k, kind in enumerate(entry.entry.arguments.values()):
        if "*" in kind.c:
            outer.append(f"ptr %a{k}")
            inner.append(f"ptr %a{k}")
            if not kind.optional:
                body.append(f"  %null{k} = icmp eq ptr %a{k}, null")
                body.append(f"  %bad{k} = or i1 {nulls[-1]}, %null{k}")
                nulls.append(f"%bad{k}")
        elif kind is WORD:
            outer.append(f"i64 %a{k}")
            inner.append(f"i64 %a{k}")
        else:
            outer.append(f"i32 %a{k}")
            body.append(f"  %wide{k} = sext i32 %a{k} to i64")
            inner.append(f"i64 %wide{k}")
    given = ("ptr %value_at", "ptr %raised_at", *inner)
    types = ", ".join(argument.split()[0] for argument in inner)
    return "\n".join(
        [
            f'declare i32 @"{entry.symbol}"(ptr, ptr, {types})',
            f"define i32 @{PREFIX}{entry.name}({', '.join(outer)}) {{",
            "  %value_at = alloca i64, align 8",
            "  %raised_at = alloca ptr, align 8",
            "  store i64 0, ptr %value_at",
            *body,
            f"  br i1 {nulls[-1]}, label %refused, label %called",
            "refused:",
            f"  ret i32 {CODES['NO_MEMORY_GIVEN']}",
            "called:",
            f'  %status = call i32 @"{entry.symbol}"({", ".join(given)})',
            "  %value = load i64, ptr %value_at",
            "  %short = trunc i64 %value to i32",
            "  %raised = icmp sgt i32 %status, 0",
            f"  %result = select i1 %raised, i32 {CODES['FAILED']}, i32 %short",
            "  ret i32 %result",
            "}",
        ]
    )


def _hide_all_but(module: llvm.ModuleRef, kept: set[str]) -> None:
    """Make everything but some functions internal, so that what nobody calls goes."""
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name not in kept:
            item.linkage = "internal"
            item.visibility = "default"
    module.verify()


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine, *, vectorise: bool) -> None:
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = tuning.slp_vectorization = vectorise
    builder = llvm.create_pass_builder(machine, tuning)
    # What inlines comes first, so that Numba's own pass can remove counts of references.
    first = llvm.create_new_module_pass_manager()
    first.add_always_inliner_pass()
    first.add_refprune_pass()
    first.run(module, builder)
    builder.getModulePassManager().run(module, builder)
    last = llvm.create_new_module_pass_manager()
    last.add_refprune_pass()
    last.add_global_dead_code_eliminate_pass()
    last.run(module, builder)


def _refuse_unknown(module: llvm.ModuleRef, target: str) -> None:
    """Raise BuildError if a function is called that the target has not."""
    for function in module.functions:
        name = function.name
        known = name.startswith("llvm.") or (target == "host" and name in LIBC)
        if function.is_declaration and not known:
            raise BuildError(
                f"compiled code calls {name}, which no other machine has: what is portable makes "
                "memory by np.zeros and np.empty alone, and has no strings, lists, dicts or threads"
            )
