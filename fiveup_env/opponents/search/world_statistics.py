"""What sampled worlds show about each action, compared world by world.

All actions are tried in the same worlds. What they have in common there says nothing about which to
choose, so errors are those of differences between two actions in the same world. The score of an
action is

    mean over the worlds + (trust * noise + precision * noise ** 2) * prior

where `noise` is the mean standard error of such differences, so that few worlds, or worlds that
disagree, leave the choice to the prior, and many worlds that agree override it. A prior of
log-probabilities, which have no unit, is weighed by `trust`. One that estimates the values
themselves has a `precision`, 1 / error ** 2: then both are joined as estimates with errors are.

An action whose score is clearly lower than the best is closed, and is not tried any further. The
choice among the others, which are as good as equal, counts how they look too (see `looks`), weighed
against noise as a prior is, and less with every world. Worlds may be weighted by their likelihoods.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.engine.exponentials import exp
from fiveup_env.native import (
    Array,
    DoubleRows,
    Doubles,
    Entries,
    Int64Rows,
    Struct,
    compiled,
    inlined,
    inner,
)

CLEARLY: Final = 3.0  # standard errors by which an action must be worse to be closed
LOOKED: Final = 100.0  # worlds after which a point of looks weighs as much as noise
LOWEST: Final = float(np.finfo(float).min)
LEAST_NOISE: Final = 1e-6  # the prior decides between actions that have equal values in all worlds

# An action that may be chosen.
CANDIDATE = np.dtype(
    [
        ("action", np.int64),
        ("open", np.bool_),  # still to be tried
        ("prior", np.float64),
        ("looks", np.float64),  # in points
        ("sum", np.float64),  # of weighted values
        ("mean", np.float64),  # the weighted mean, up to the world after which it was closed
        ("apart", np.float64),  # sum of its differences from the mean of a world's open actions
        ("error", np.float64),  # standard error of its difference from the best, while it was open
        ("score", np.float64),  # -inf once it is closed
        ("appeal", np.float64),  # the score, and how the action looks; the highest is chosen
    ],
    align=True,
)
CandidateRows: TypeAlias = Annotated[np.ndarray, Entries(CANDIDATE, 2)]

# The worlds in which the candidates of one view were tried, and how they are judged.
EVIDENCE = np.dtype(
    [
        ("count", np.int64),  # how many candidates there are
        ("open", np.int64),  # how many of them are still to be tried; never 1
        ("trust", np.float64),  # the weights of the prior, for the noise ...
        ("precision", np.float64),  # ... and for its square
        ("clearly", np.float64),
        ("worlds", np.int64),
        ("highest", np.float64),  # log-likelihood of any world, to which weights are relative
        ("weight", np.float64),  # of all worlds together
        ("squared", np.float64),  # sum of the squared weights
    ],
    align=True,
)
Evidences: TypeAlias = Annotated[np.ndarray, Entries(EVIDENCE)]


class WorldStatistics:
    """Statistics of the actions of some views over sampled worlds, and their scores.

    `evidence` has a struct for each view, `candidates` a row of structs, and `products` a square of
    sums over worlds: of the products of two candidates' differences (below its diagonal).
    """

    def __init__(
        self, prior: np.ndarray, trust: float = 0.0, precision: float | np.ndarray = 0.0
    ) -> None:
        """Start without worlds.

        The prior has a row of actions for each view, -inf for those that may not be chosen. The
        precision is the same for all views, or has a number for each.
        """
        most = int(np.isfinite(prior).sum(1).max(initial=1))
        self._shape = prior.shape
        self.evidence = np.zeros(len(prior), EVIDENCE)
        self.candidates = np.zeros((len(prior), most), CANDIDATE)
        self.products = np.zeros((len(prior), most, most))
        precisions = np.full(len(prior), precision, np.float64)
        begin(prior.astype(np.float64), trust, precisions, CLEARLY, self.evidence, self.candidates)

    @property
    def undecided(self) -> np.ndarray:
        """The indices of the views with more than one open action."""
        return np.flatnonzero(self.evidence["open"])

    @property
    def means(self) -> np.ndarray:
        """The mean value of every action, a row for each view; -inf for no candidate."""
        return self._spread("mean")

    @property
    def errors(self) -> np.ndarray:
        """The standard error of every action's difference from the best, NaN for no candidate.

        It is 0 for the best. An action that was closed has that of the worlds until then.
        """
        errors = self._spread("error")
        return np.where(np.isneginf(errors), np.nan, errors)

    @property
    def scores(self) -> np.ndarray:
        """The score of every action, a row for each view; -inf if closed or no candidate."""
        return self._spread("score")

    @property
    def choices(self) -> np.ndarray:
        """The action to choose for every view: that of the highest score, if looks count too."""
        return self._spread("appeal").argmax(1)

    def _spread(self, name: str) -> np.ndarray:
        """Return a field of the candidates, in the columns of their actions."""
        spread = np.empty(self._shape)
        actions, field = (np.ascontiguousarray(self.candidates[each]) for each in ("action", name))
        spread_out(self.evidence, actions, field, spread)
        return spread


@compiled
def begin(
    prior: DoubleRows,
    trust: float,
    precisions: Doubles,
    clearly: float,
    evidence: Evidences,
    candidates: CandidateRows,
) -> None:
    """List the actions with a finite prior, as yet without worlds; they are open if several are.

    `evidence` and `candidates` hold zeros.
    """
    for i in range(len(prior)):
        evidence[i].trust, evidence[i].precision = trust, precisions[i]
        evidence[i].clearly, evidence[i].highest = clearly, LOWEST
        n = 0
        for action in range(prior.shape[1]):
            if prior[i, action] > -np.inf:
                candidates[i, n].action = action
                candidates[i, n].prior = prior[i, action]
                n += 1
        evidence[i].count = n
        evidence[i].open = n if n > 1 else 0
        for k in range(evidence[i].open):
            candidates[i, k].open = True


@compiled
def spread_out(
    evidence: Evidences, actions: Int64Rows, field: DoubleRows, spread: DoubleRows
) -> None:
    """Write a field of the candidates in the columns of their actions, and -inf elsewhere."""
    spread[:] = -np.inf
    for i in range(len(spread)):
        for k in range(evidence[i].count):
            spread[i, actions[i, k]] = field[i, k]


@inner
def add_worlds(
    evidence: Struct, candidates: Array, products: Array, values: Array, logs: Array
) -> None:
    """Add the values of a view's open candidates in more worlds [worlds x candidates].

    Then score the candidates, close those that are clearly worse, and look at them.
    """
    _weigh(evidence, candidates, logs)
    for w in range(len(values)):
        weight, common = exp(logs[w] - evidence.highest), 0.0
        for k in range(evidence.count):
            if candidates[k].open:
                common += values[w, k]
        common /= evidence.open
        for k in range(evidence.count):
            if candidates[k].open:
                apart = values[w, k] - common
                candidates[k].sum += weight * values[w, k]
                candidates[k].apart += apart
                for j in range(k + 1):
                    if candidates[j].open:
                        products[k, j] += apart * (values[w, j] - common)
    evidence.worlds += len(values)
    noise = _noise(evidence, candidates, products, _update_means(evidence, candidates))
    _close_the_worse(evidence, candidates, products, _update_scores(evidence, candidates, noise))
    _add_looks(evidence, candidates, noise)


@inlined
def _weigh(evidence: Struct, candidates: Array, logs: Array) -> None:
    """Count the weights of more worlds, relative to the highest likelihood so far."""
    highest = evidence.highest
    for w in range(len(logs)):
        highest = max(highest, logs[w])
    fade = exp(evidence.highest - highest)
    evidence.highest = highest
    evidence.weight *= fade
    evidence.squared *= fade * fade
    for k in range(evidence.count):
        candidates[k].sum *= fade
    for w in range(len(logs)):
        weight = exp(logs[w] - highest)
        evidence.weight += weight
        evidence.squared += weight * weight


@inlined
def _update_means(evidence: Struct, candidates: Array) -> int:
    """Compute the means of the open candidates; return which is best."""
    best = -1
    for k in range(evidence.count):
        if candidates[k].open:
            candidates[k].mean = candidates[k].sum / evidence.weight
            if best < 0 or candidates[k].mean > candidates[best].mean:
                best = k
    return best


@inlined
def _noise(evidence: Struct, candidates: Array, products: Array, best: int) -> float:
    """Return the mean standard error of one of two means that are compared with each other."""
    errors = 0.0
    for k in range(evidence.count):
        if candidates[k].open and k != best:
            errors += _error(evidence, candidates, products, k, best)
    return errors / (evidence.open - 1) / np.sqrt(2.0)


@inlined
def _update_scores(evidence: Struct, candidates: Array, noise: float) -> int:
    """Compute the scores of the open candidates; return which is best."""
    weight = evidence.trust * noise + evidence.precision * noise * noise
    best = -1
    for k in range(evidence.count):
        if candidates[k].open:
            candidates[k].score = candidates[k].mean + weight * candidates[k].prior
            if best < 0 or candidates[k].score > candidates[best].score:
                best = k
    return best


@inlined
def _close_the_worse(evidence: Struct, candidates: Array, products: Array, best: int) -> None:
    """Close the candidates whose score is clearly lower than the best; a last one is closed too."""
    evidence.open = 0
    for k in range(evidence.count):
        if candidates[k].open:
            error = _error(evidence, candidates, products, k, best)
            candidates[k].error = 0.0 if k == best else error
            if candidates[k].score < candidates[best].score - evidence.clearly * error:
                candidates[k].open = False
                candidates[k].score = -np.inf
            else:
                evidence.open += 1
    if evidence.open == 1:
        candidates[best].open = False
        evidence.open = 0


@inlined
def _add_looks(evidence: Struct, candidates: Array, noise: float) -> None:
    """Add the looks of the candidates to their scores."""
    weight = noise * np.sqrt(LOOKED / evidence.worlds)
    for k in range(evidence.count):
        candidates[k].appeal = candidates[k].score + weight * candidates[k].looks


@inlined
def _error(evidence: Struct, candidates: Array, products: Array, k: int, best: int) -> float:
    """Return the standard error of the difference between two candidates' means."""
    worlds = max(2, evidence.worlds)
    gap = (candidates[k].apart - candidates[best].apart) / worlds
    product = products[k, k] + products[best, best] - 2 * products[max(k, best), min(k, best)]
    spread = max(0.0, product / worlds - gap * gap) * worlds / (worlds - 1)
    return max(LEAST_NOISE, np.sqrt(spread * evidence.squared) / evidence.weight)
