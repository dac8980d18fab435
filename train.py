"""Train an agent: `python train.py`, or `python train.py strong width=512 seed=3`."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path

from agents.learn.runs.config import (
    Config,
    describe_keys,
    known_configs,
    load_config,
    parse_changes,
)
from agents.learn.runs.display import Display
from agents.learn.runs.folder import Run, find_run, new_run
from fiveup_env import FiveUpError


def main() -> int:
    """Read the configuration, train, measure, and say where the policy is."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"keys of a config, with their defaults:\n{describe_keys()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    configs = ", ".join(known_configs())
    parser.add_argument("config", nargs="?", help=f"{configs}, or a YAML file (default: quick)")
    parser.add_argument("changes", nargs="*", metavar="key=value", help="any key of the config")
    parser.add_argument(
        "--config", dest="named", metavar="CONFIG", help="the config, given as an option"
    )
    parser.add_argument("--name", help="the run's folder in runs/ (default: the config's name)")
    parser.add_argument("--resume", metavar="RUN", help="resume a run, by name or folder")
    options = parser.parse_intermixed_args()
    words = [word for word in (options.config, *options.changes) if word]
    chosen = options.named or (words.pop(0) if words and "=" not in words[0] else "quick")
    try:
        if options.resume:
            run = find_run(options.resume)
            return _train(run.config(parse_changes(words)), run, resume=True)
        run = new_run(options.name or Path(chosen).stem)
        return _train(load_config(chosen, words), run, resume=False)
    except (FiveUpError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2


def _train(config: Config, run: Run, *, resume: bool) -> int:
    from agents.learn.training import Training, finish  # here, because torch is slow to import

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
            display.say(f"Stopped. To resume: python train.py --resume {run.folder.name}")
            return 130
        finish(training)
    return 0


if __name__ == "__main__":
    sys.exit(main())
