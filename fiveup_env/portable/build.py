"""From Numba's LLVM IR to a WebAssembly module or a library for this machine.

Each entry gets a plain C signature. All become one module for the target, which is optimised as a
whole, and linked by zig.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, NamedTuple

import llvmlite.binding as llvm

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
from fiveup_env.portable.front import (
    begin,
    hide_all_but,
    joined,
    optimise,
    refuse_unknown,
    run_zig,
    translate,
)
from fiveup_env.portable.runtime import ALLOCATION, LIBRARY, MODULE

PREFIX: Final = "fiveup_"


class Target(NamedTuple):
    """A target of compilation."""

    triple: str
    features: str
    runtime: str
    exported: tuple[str, ...]  # functions of the runtime that callers need
    kept: tuple[str, ...]  # functions that only the code generator calls
    linker: str  # of those in zig


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
    ),
    "host": Target(
        llvm.get_process_triple(),
        "",
        LIBRARY,
        (),
        (),
        "cc",
    ),
}


def modules(target: str, output: Path) -> dict[Path, list[str]]:
    """Return the files that are made for a target, and the functions in each.

    A module for browsers has what a game needs; what learns is in one of its own beside it.
    """
    learns = [name for name in ENTRIES if name.startswith("learning_")]
    if target != "wasm32":
        return {output: [*ENTRIES]}
    plays = [name for name in ENTRIES if name not in learns]
    return {output: plays, output.with_name("learning.wasm"): learns}


def build(target: str, output: Path, *, simd: bool = True) -> None:
    """Write a module and what learns, or a library, with all functions.

    Raises BuildError if a tool is missing or a function cannot be compiled.
    """
    chosen = TARGETS[target]
    features = chosen.features if simd else chosen.features.replace(",+simd128", "")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    reloc = {"reloc": "pic"} if target == "host" else {}
    machine = llvm.Target.from_triple(chosen.triple).create_target_machine(
        cpu="generic" if target == "wasm32" else "", features=features, opt=2, **reloc
    )
    begin()
    wrappers = []
    for name, entry in ENTRIES.items():
        signature = tuple(kind.of for kind in entry.arguments.values())
        made = translate(entry.function, signature)
        wrappers.append(_wrapper(name, entry, made.mangled_name))
    text = "\n".join([*wrappers, ALLOCATION, chosen.runtime])
    whole = joined(chosen.triple, str(machine.target_data), text).as_bitcode()
    for path, names in modules(target, output).items():
        module = llvm.parse_bitcode(whole)
        exported = {f"{PREFIX}{name}" for name in names} | set(chosen.exported)
        hide_all_but(module, exported | set(chosen.kept))
        optimise(module, machine, vectorise=simd or target == "host")
        refuse_unknown(module, LIBC if target == "host" else ())
        _link(path, machine.emit_object(module), chosen, exported)


def _link(path: Path, code: bytes, target: Target, exported: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made, linked = Path(folder) / "fiveup.o", Path(folder) / path.name
        write_atomic(made, code)
        files = ("-o", str(linked), str(made))
        if target.linker == "wasm-ld":
            exports = (f"--export={name}" for name in sorted(exported))
            command = ("--no-entry", "--strip-all", "-z", "stack-size=262144", *exports, *files)
        else:
            command = ("-shared", *files, "-lm")
        run_zig(target.linker, *command)
        write_atomic(path, linked.read_bytes())


def _wrapper(name: str, entry: Entry, symbol: str) -> str:
    """Return IR of a function with a plain C signature, which refuses null pointers.

    Numba's function writes its value behind its first argument, and returns a positive status for
    an exception.
    """
    outer, inner, body, nulls = [], [], [], ["false"]
    for k, kind in enumerate(entry.arguments.values()):
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
            f'declare i32 @"{symbol}"(ptr, ptr, {types})',
            f"define i32 @{PREFIX}{name}({', '.join(outer)}) {{",
            "  %value_at = alloca i64, align 8",
            "  %raised_at = alloca ptr, align 8",
            "  store i64 0, ptr %value_at",
            *body,
            f"  br i1 {nulls[-1]}, label %refused, label %called",
            "refused:",
            f"  ret i32 {CODES['NO_MEMORY_GIVEN']}",
            "called:",
            f'  %status = call i32 @"{symbol}"({", ".join(given)})',
            "  %value = load i64, ptr %value_at",
            "  %short = trunc i64 %value to i32",
            "  %raised = icmp sgt i32 %status, 0",
            f"  %result = select i1 %raised, i32 {CODES['FAILED']}, i32 %short",
            "  ret i32 %result",
            "}",
        ]
    )
