"""`python -m fiveup_env.portable wasm32|host|weights`: build for other languages."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fiveup_env.errors import InputError
from fiveup_env.files import write_atomic

# Numba must know these before it is imported.
SETTINGS = {
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "PYTHONHASHSEED": "0",  # by which Numba orders variables
}


def main() -> int:
    """Read the command line, and build."""
    parser = argparse.ArgumentParser(prog="python -m fiveup_env.portable", description=__doc__)
    parser.add_argument("what", choices=("wasm32", "host", "weights"))
    parser.add_argument("policy", nargs="?", default="student", help="for weights: a policy")
    parser.add_argument("-o", "--output", type=Path, help="the file to write")
    parser.add_argument("--plain", action="store_true", help="for wasm32: without SIMD")
    options = parser.parse_args()
    if options.what != "weights" and os.environ.get("NUMBA_OPT") != "0":
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "fiveup_env.portable", *sys.argv[1:]]
            settings = os.environ | SETTINGS | {"NUMBA_CACHE_DIR": cache}
            return subprocess.run(command, env=settings, check=False).returncode
    files = {
        "wasm32": "fiveup.wasm",
        "host": "libfiveup.so",
        "weights": f"{options.policy}.weights",
    }
    output = options.output or Path(files[options.what])
    try:
        if options.what == "weights":
            from fiveup_env.portable.weights import pack

            write_atomic(output, pack(options.policy))
        else:
            from fiveup_env.portable.build import build, modules
            from fiveup_env.portable.describe import describe

            for path, names in modules(options.what, output).items():
                build(options.what, path, simd=not options.plain, names=names)
            describe(options.what, output.parent)
    except (InputError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{output}: {output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
