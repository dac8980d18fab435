"""Say whether an agent certainly beats another: beaten.py PAIRS.json LOSER, from `--json`."""

import json
import sys
from pathlib import Path

path, loser = sys.argv[1:]
(pair,) = (
    one for one in json.loads(Path(path).read_bytes())["pairs"] if loser in {one["a"], one["b"]}
)
low, high = pair["win_rate_ci"]
if loser == pair["a"]:
    low, high = 1 - high, 1 - low
print(f"{100 * low:.1f} to {100 * high:.1f} % of the games against {loser} were won")
sys.exit(None if low > 0.5 else "that is not certainly more than half of them")
