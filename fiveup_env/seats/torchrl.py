"""All seats learn in TorchRL: games in which one policy moves every seat, and their advantages.

    env = SelfPlayEnv(Batch(256, players=4, reward="margin", scaled=True))
    for played in Collector(env, policy, frames_per_batch=256 * 64, total_frames=1_000_000):
        decisions = advantages(played)  # SeatsGAE(gamma=1.0, lmbda=0.95, value_network=critic)
        loss(decisions)

Groups of seats are those of TorchRL's `PettingZooWrapper` with `group_map={"seats": [...]}`, so
`SeatsGAE` takes its rollouts, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fiveup_env.errors import MissingExtraError, OptionError, WrongMomentError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.seats.advantages import NOBODY, check_discounts, seat_advantages

try:
    import torch
    from tensordict import TensorDict
    from torchrl.data import Binary, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise MissingExtraError(
        "TorchRL 0.14 or later is needed: pip install 'torchrl>=0.14'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensordict import TensorDictBase

    from fiveup_env.envs.batch import Batch


class SelfPlayEnv(EnvBase):  # type: ignore[misc]  # TorchRL has no types
    """Games in which each step is a move of the seat whose turn it is, in every game.

    Keys: `observation` and `action_mask` of the seat to move, `action`, `("seats", "mask")`, which
    is true for that seat, and `("next", "seats", "reward")`, what the move brought every seat.
    Where an episode ended, the next observation is that of the next episode.

    Args:
        batch: The games.
    """

    def __init__(self, batch: Batch) -> None:
        """Take the games; `reset` deals them."""
        games, players = batch.reward.shape
        super().__init__(device="cpu", batch_size=[games])
        self.batch, self._players = batch, players
        self._start: int | None = None
        rows = torch.from_numpy(batch.observation)
        self.observation_spec = Composite(
            observation=Unbounded(rows.shape, dtype=rows.dtype),
            action_mask=Binary(shape=(games, ACTION_COUNT), dtype=torch.bool),
            seats=Composite(
                mask=Binary(shape=(games, players), dtype=torch.bool), shape=(games, players)
            ),
            shape=(games,),
        )
        self.action_spec = Categorical(ACTION_COUNT, shape=(games,))
        self.reward_spec = Composite(
            seats=Composite(reward=Unbounded((games, players, 1)), shape=(games, players)),
            shape=(games,),
        )
        ends = {name: Binary(shape=(games, 1), dtype=torch.bool) for name in self._ends()}
        self.done_spec = Composite(ends, shape=(games,))

    def _ends(self) -> dict[str, torch.Tensor]:
        batch = self.batch
        ends = {"terminated": batch.terminated, "truncated": batch.truncated}
        ends["done"] = batch.terminated | batch.truncated
        return {name: torch.from_numpy(end.copy())[:, None] for name, end in ends.items()}

    def _seen(self) -> TensorDict:
        """Return copies of what the seats to move observe."""
        batch = self.batch
        seats = torch.from_numpy(batch.turn[:, None] == np.arange(self._players))
        group = TensorDict({"mask": seats}, (*self.batch_size, self._players))
        rows = torch.from_numpy(batch.observation.copy())
        masks = torch.from_numpy(batch.action_mask.astype(np.bool_))
        seen = {"observation": rows, "action_mask": masks, "seats": group}
        return TensorDict(seen, self.batch_size)

    def _reset(self, tensordict: TensorDictBase | None = None, **_options: Any) -> TensorDict:
        some = None if tensordict is None else tensordict.get("_reset", None)
        ends = self._ends()
        if some is None:
            self.batch.reset(self._start)
            self._start = None
        elif (some & ~ends["done"]).any():
            raise WrongMomentError("a game that goes on cannot be reset alone: end it by max_hands")
        fresh = {name: torch.zeros_like(end) for name, end in ends.items()}
        return self._seen().update(fresh)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        batch = self.batch
        batch.step(tensordict["action"].numpy())
        seen = self._seen().update(self._ends())
        seen["seats", "reward"] = torch.from_numpy(batch.reward.copy())[..., None]
        return seen

    def _set_seed(self, seed: int | None) -> None:
        self._start = seed


class SeatsGAE:
    """Generalised advantages of every seat by itself, from what a collector gives.

    Call it with each rollout of a collector once, in their order: it keeps the decisions that wait
    for their seat's next one, so games that are reset want another `SeatsGAE`. It returns
    decisions, one a row, with the keys of the rollout and the entries of the seat that decided in
    place of those of all seats; and with `advantage`, `value_target` and `state_value`, as losses
    read them.

    Args:
        gamma: The discount from a seat's decision to its next one.
        lmbda: That of later errors.
        value_network: A module that writes `state_value` for decisions.
        group: The group of seats, whose `mask` says which of them decides.

    Raises:
        OptionError: If a discount is not from 0 to 1.
    """

    def __init__(
        self,
        *,
        gamma: float,
        lmbda: float,
        value_network: Callable[[TensorDictBase], TensorDictBase],
        group: str = "seats",
    ) -> None:
        """Begin with no decision that waits."""
        check_discounts(gamma, lmbda)
        self._discounts, self._values, self._group = (gamma, lmbda), value_network, group
        self._waiting: tuple[TensorDictBase, np.ndarray, np.ndarray] | None = None

    @torch.no_grad()
    def __call__(self, played: TensorDictBase) -> TensorDictBase:
        """Return the decisions of a rollout [..., ticks] whose advantages are known.

        Moves that were the only one allowed are not among them. Raises OptionError if the rollout
        has no group of seats, or other games than the one before.
        """
        if (self._group, "mask") not in played.keys(include_nested=True) or not played.ndim:
            raise OptionError(f"a rollout of seats has ({self._group!r}, 'mask'), and a time")
        played = played.reshape(-1, played.shape[-1]).clone(recurse=False)
        played.names = [None, None]  # of dimensions; they are others in what is returned
        played = played.transpose(0, 1)
        decisions, seats = self._decided(played.exclude("next"))
        after = played["next"]
        rewards = after[self._group, "reward"].squeeze(-1).cpu().numpy()
        ends, cuts = (after[name].squeeze(-1).cpu().numpy() for name in ("terminated", "truncated"))
        games, players = rewards.shape[1:]
        if self._waiting is None:
            nobody = np.full((players, games), NOBODY)
            nothing = np.zeros((players, *rewards.shape[1:]), np.float32)
            self._waiting = decisions[:1].expand(players, games).clone(), nobody, nothing
        waiting = self._waiting
        if waiting[2].shape[1:] != rewards.shape[1:]:
            raise OptionError(f"rollouts are of {waiting[2].shape[1]} games, not of {games}")
        decisions = cast("TensorDictBase", torch.cat([waiting[0], decisions]))
        seats, rewards = np.concatenate([waiting[1], seats]), np.concatenate([waiting[2], rewards])
        ends, cuts = (np.concatenate([np.zeros((players, games), bool), x]) for x in (ends, cuts))
        values = decisions["state_value"].squeeze(-1).cpu().numpy()
        found = seat_advantages(rewards, values, seats, ends, *self._discounts, cuts=cuts)
        gains = torch.from_numpy(found.advantages)[..., None].to(decisions["state_value"])
        decisions["advantage"] = gains
        decisions["value_target"] = gains + decisions["state_value"]
        found.waiting.carry(rewards, seats, ends)
        ticks = torch.from_numpy(found.waiting.ticks.T.clip(0)).long()
        kept = decisions[ticks, torch.arange(games)].exclude("advantage", "value_target")
        self._waiting = kept, seats[:players].copy(), rewards[:players].copy()
        return decisions[torch.from_numpy(found.known)]

    def _decided(self, seen: TensorDictBase) -> tuple[TensorDictBase, np.ndarray]:
        """Return the decisions of all ticks and games with their values, and whose they are."""
        group = seen[self._group]
        mask = group["mask"]
        own = mask.int().argmax(-1)
        ticks, games = map(torch.arange, own.shape)
        decisions = seen.exclude(self._group)
        decisions[self._group] = group[ticks[:, None], games, own]
        allowed = decisions.get("action_mask", decisions[self._group].get("action_mask", None))
        is_free = mask.any(-1) if allowed is None else mask.any(-1) & (allowed.sum(-1) > 1)
        decisions = self._values(decisions.reshape(-1)).reshape(own.shape)
        return decisions, torch.where(is_free, own, NOBODY).cpu().numpy()
