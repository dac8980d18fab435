"""Compiling ahead: another process compiles what learning needs, while this one plays first games.

What it has compiled is kept on disk, where this process finds it.
"""

from __future__ import annotations

import gc
import logging
import os
from multiprocessing import get_context
from signal import SIG_DFL, SIGINT, signal

import numpy as np

from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.encoders.pieces import unchecked
from fiveup_env.engine.code_cache import cache_folders
from fiveup_env.engine.dispatch import compile_now
from fiveup_env.game.game import Game
from fiveup_env.learning.decisions import decisions_of
from fiveup_env.learning.learner import Learner
from fiveup_env.learning.losses import DIFFERENCES, Loss, Targets
from fiveup_env.learning.networks import Network
from fiveup_env.learning.steps import make_step
from fiveup_env.opponents.search.units import Units
from fiveup_env.rules.actions import ACTION_COUNT


def compile_ahead() -> None:
    """Begin to compile, if the disk has nothing yet but can keep it, and there is a core for it."""
    is_wanted = cache_folders() and not getattr(make_step, "is_kept", True)
    if is_wanted and (os.cpu_count() or 1) > 1:
        get_context("spawn").Process(target=_compile, daemon=True).start()


def _compile() -> None:
    """Compile silently, in the order of need; Ctrl-C ends it."""
    logging.disable()
    gc.disable()  # it would look through what compiling leaves, for a tenth of the time
    signal(SIGINT, SIG_DFL)
    view = Game(seed=1).view()
    compile_now()
    learn_once(view)


def learn_once(view: np.ndarray) -> None:
    """Use all that learns from labels once, for one view."""
    Units(view, "outlook")
    encoder, network = get_encoder("lookahead"), Network("guided", 1, 1)
    rows = np.zeros((1, row_size(encoder)), np.int8)
    unchecked(encoder)(view, rows)
    decisions = decisions_of(rows, np.eye(1, ACTION_COUNT, dtype=np.bool_), network.columns)
    none, known = np.zeros(0, np.float32), np.zeros(1, np.float32)
    targets = Targets(np.zeros(0, np.int32), none, none, known, known, none)
    loss = Loss(DIFFERENCES, 1.0)
    Learner(network).step(decisions, targets, np.zeros(1, np.int64), loss, 0.0, 1.0)
