"""`python -m fiveup_env.portable native|wasm32|host|weights`: build for Python and for others."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from fiveup_env.errors import InputError
from fiveup_env.files import write_atomic
from fiveup_env.native.library import FOLDER

# Numba must know these before it is imported.
SETTINGS = {
    "FIVEUP_ENGINE": "numba",
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "PYTHONHASHSEED": "0",  # by which Numba orders variables
}


def main() -> int:
    """Read the command line, and build."""
    parser = argparse.ArgumentParser(prog="python -m fiveup_env.portable", description=__doc__)
    parser.add_argument("what", choices=("native", "wasm32", "host", "weights"))
    parser.add_argument("policy", nargs="?", default="student", help="for weights: a policy")
    parser.add_argument("-o", "--output", type=Path, help="the file, or for native the folder")
    parser.add_argument("--plain", action="store_true", help="for wasm32: without SIMD")
    parser.add_argument("--target", default="", help="for native: another system")
    parser.add_argument("--here", action="store_true", help="for native: for this processor alone")
    options = parser.parse_args()
    if options.what != "weights" and os.environ.get("NUMBA_OPT") != "0":
        command = [sys.executable, "-m", "fiveup_env.portable", *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | SETTINGS, check=False).returncode
    files: dict[str, str | Path] = {
        "native": FOLDER,
        "wasm32": "fiveup.wasm",
        "host": "libfiveup.so",
        "weights": f"{options.policy}.weights",
    }
    output = options.output or Path(files[options.what])
    try:
        if options.what == "weights":
            from fiveup_env.portable.weights import pack

            write_atomic(output, pack(options.policy))
        elif options.what == "native":
            from fiveup_env.portable.native import build_native

            output = build_native(output, options.target, here=options.here)
        else:
            from fiveup_env.portable.build import build
            from fiveup_env.portable.describe import describe

            build(options.what, output, simd=not options.plain)
            describe(options.what, output.parent)
    except (InputError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{output}: {output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
