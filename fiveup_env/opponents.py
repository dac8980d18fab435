"""Who plays the seats that no learner plays: any callable on views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from fiveup_env.errors import OptionError, unknown

# Views (VIEW records), masks (a row for each) and a generator in; an action for each view out.
Policy: TypeAlias = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def random_policy(views: np.ndarray, masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Any allowed action, each as likely as the other."""
    del views
    return (random.random(masks.shape, np.float32) - (masks == 0)).argmax(1)


POLICIES: Final[dict[str, Policy]] = {"random": random_policy}
_MAKERS: list[Callable[[str], Policy]] = []


def make_policies_with(maker: Callable[[str], Policy]) -> None:
    """Let specs be understood by a maker of agents, such as the laboratory's."""
    _MAKERS.append(maker)


def get_policy(chosen: str | Policy) -> Policy:
    """The policy of a name or spec, or the one that is given."""
    if callable(chosen):
        return chosen
    if chosen in POLICIES:
        return POLICIES[chosen]
    if _MAKERS:
        return _MAKERS[-1](chosen)
    raise OptionError(unknown("opponent", chosen, POLICIES))
