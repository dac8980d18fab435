"""`python -m fiveup_env`: the same as `fiveup`."""

import sys

from fiveup_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
