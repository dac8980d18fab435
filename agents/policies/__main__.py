"""Write a policy anew, its choices unchanged: `python -m agents.policies FOLDER -o OTHER --half`.

Training from all actions ends with probabilities close to 0 and 1, which tell `sample=1` and a
search little. Dividing all logits gives them doubts.
"""

from __future__ import annotations

import shlex
import sys
from typing import Final

from agents.policies.agent import ENCODER_HELP, spec_of
from agents.policies.files import load_policy, save_policy
from agents.version import code_version
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.opponents.networks.files import PATHS, PolicyError, policy_folder

MOST: Final = 1000.0  # which logits are divided or multiplied by


def main() -> int:
    """Run the command line, and return the exit status."""
    return answer("policies", _run)


def _run() -> int:
    parser = Parser(prog="python -m agents.policies", description=__doc__)
    parser.add_argument("policy", metavar="POLICY", help=PATHS)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where to write it")
    divide = "divide all logits by this, best a power of 2 (default: 1)"
    parser.add_argument("--divide-logits", type=float, default=1.0, metavar="N", help=divide)
    parser.add_argument("--half", action="store_true", help="write weights as float16")
    parser.add_argument("--encoder", metavar="MODULE:CLASS", help=ENCODER_HELP)
    options = parser.parse_args()
    divisor = options.divide_logits
    if not 1 / MOST <= divisor <= MOST:
        raise PolicyError(f"--divide-logits must be from {1 / MOST} to {MOST}, not {divisor}")
    network, about = load_policy(policy_folder(options.policy), options.encoder)
    network.divide_logits(divisor)
    command = shlex.join(["python", "-m", "agents.policies", *sys.argv[1:]])
    about |= {"changed": {"command": command, "code": code_version()}}
    save_policy(options.output, network, about, half=options.half)
    print(f"Play with {spec_of(options.output, options.encoder)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
