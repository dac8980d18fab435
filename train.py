"""Train an agent: `python train.py`, or `python train.py strong width=512 seed=3`."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.cli.shared import INTERRUPTED, Parser, answer

# What needs packages of the extra `train` is imported where a missing one is said in a sentence.
if TYPE_CHECKING:
    from agents.runs.config import Config
    from agents.runs.folder import Run


INSTALL: Final = "pip install -c constraints.txt -e '.[train]'"


def main() -> int:
    """Read the configuration, train, measure, and say where the policy is."""
    return answer("train", _main, install=INSTALL)


def parser() -> Parser:
    """Return the parser of the command line."""
    from agents.runs.config import known_configs

    made = Parser(description=__doc__)
    configs = ", ".join(known_configs())
    made.add_argument("config", nargs="?", help=f"{configs}, or a YAML file (default: quick)")
    made.add_argument("changes", nargs="*", metavar="key=value", help="any key of the config")
    made.add_argument(
        "--config", dest="named", metavar="CONFIG", help="the config, given as an option"
    )
    made.add_argument("--keys", action="store_true", help="list the keys of a config")
    made.add_argument("--name", help="the run's folder in runs/ (default: the config's name)")
    made.add_argument(
        "--trust",
        action="store_true",
        help="let the config's file, or the run, name agents that run code: module:Class, programs",
    )
    made.add_argument("--resume", metavar="RUN", help="resume a run, by name or folder")
    return made


def _main() -> int:
    from agents.runs.config import describe_keys, load_config, parse_changes
    from agents.runs.folder import new_run, resumed_run

    options = parser().parse_intermixed_args()
    if options.keys:
        print(describe_keys())
        return 0
    words = [word for word in (options.config, *options.changes) if word]
    chosen = options.named or (words.pop(0) if words and "=" not in words[0] else "quick")
    if options.resume:
        with resumed_run(options.resume) as run:
            config = run.config(parse_changes(words), trust=options.trust)
            return _train(config, run, resume=True)
    config = load_config(chosen, words, trust=options.trust)
    with new_run(options.name or Path(chosen).stem, config) as run:
        return _train(config, run, resume=False)


def _train(config: Config, run: Run, *, resume: bool) -> int:
    from agents.learn.training import Training, finish
    from agents.runs.display import Display

    checkpoint = run.newest(config) if resume else None
    with ExitStack() as held:
        with Display() as display:
            for sentence in checkpoint.damaged if checkpoint else ():
                display.say(sentence)
            training = Training(config, run, display, checkpoint)
            held.enter_context(closing(training.learner))
            run.begin(config)
            where = os.path.relpath(run.folder)
            display.say(f"The run's folder is {where}. Ctrl-C stops it; --resume continues it.")
            finished = training.train()
        if not finished:
            display.say(f"Stopped. To resume: {run.resuming}")
            return INTERRUPTED
        finish(training)
    return 0


if __name__ == "__main__":
    sys.exit(main())
