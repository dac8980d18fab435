"""How Optuna chooses the keys of a trial, from the results before it.

The choices of a trial follow from the sweep's seed, the trial's number, and what was known when it
began. Of trials that are still running, Optuna is told the keys, so that it looks elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agents.learn.sweeps.spec import Choices, Range
from fiveup_env.errors import MissingExtraError

try:
    import optuna
except ModuleNotFoundError as _error:
    raise MissingExtraError(
        f"sweeps without Ray need {_error.name}: pip install -c constraints.txt -e '.[sweep]'"
    ) from None

if TYPE_CHECKING:
    from agents.learn.sweeps.spec import Sweep
    from agents.learn.sweeps.trials import Known


def choose(sweep: Sweep, number: int, known: Known) -> dict[str, Any]:
    """Return the values of a trial, which follow from the seed, its number, and what is known."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seed = np.random.SeedSequence([sweep.seed, number]).generate_state(1)
    study = optuna.create_study(
        direction="minimize" if sweep.lower_is_better else "maximize",
        sampler=optuna.samplers.TPESampler(seed=int(seed[0]), constant_liar=bool(known.running)),
    )
    spaces = {name: _distribution(space) for name, space in sweep.search.items()}
    states = optuna.trial.TrialState
    before = [
        (
            trial.chosen,
            states.COMPLETE if trial.result else states.FAIL,
            trial.result[0] if trial.result else None,
        )
        for trial in known.ended
    ]
    before += [(chosen, states.RUNNING, None) for chosen in known.running]
    for chosen, state, value in before:
        params = {
            name: space.values.index(chosen[name]) if isinstance(space, Choices) else chosen[name]
            for name, space in sweep.search.items()
        }
        study.add_trial(
            optuna.trial.create_trial(state=state, params=params, distributions=spaces, value=value)
        )
    params = study.ask(spaces).params
    return {
        name: space.values[params[name]] if isinstance(space, Choices) else params[name]
        for name, space in sweep.search.items()
    }


def _distribution(space: Choices | Range) -> optuna.distributions.BaseDistribution:
    if isinstance(space, Choices):
        return optuna.distributions.CategoricalDistribution(range(len(space.values)))
    if isinstance(space.low, int):
        step = 1 if space.step is None else int(space.step)
        return optuna.distributions.IntDistribution(space.low, int(space.high), space.log, step)
    return optuna.distributions.FloatDistribution(space.low, space.high, space.log, space.step)
