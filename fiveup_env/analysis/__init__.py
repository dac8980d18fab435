"""Games judged after they were played.

    trials      every action of a position played out in sampled worlds, for wins and for points
    decisions   `judge(game)`: what each decision lost, and the error rates of the players
    chances     the chance to win at every moment, as each seat sees it
    luck        what the deals were worth, and what was made of them

A judgement is that of a reference search, from what the player could know at that moment.
"""

from fiveup_env.analysis.chances import chances_of, moments_of
from fiveup_env.analysis.decisions import Decision, Judgement, Option, decisions_of, judge
from fiveup_env.analysis.luck import HandLuck, luck_of
from fiveup_env.analysis.trials import REFERENCE, Estimate

__all__ = [
    "REFERENCE",
    "Decision",
    "Estimate",
    "HandLuck",
    "Judgement",
    "Option",
    "chances_of",
    "decisions_of",
    "judge",
    "luck_of",
    "moments_of",
]
