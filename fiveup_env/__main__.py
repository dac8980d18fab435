"""`python -m fiveup_env`: the same as `fiveup`."""

import sys
from pathlib import Path

from fiveup_env.cli import main

if __name__ == "__main__":
    # `python -m` looks first in the current folder, which is no place for modules unless we are.
    if sys.path[0] == str(Path.cwd()) != str(Path(__file__).parents[1]):
        del sys.path[0]
    sys.exit(main())
