"""Models of Stable-Baselines3 play by their zip files as they play themselves."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import FlattenExtractor

from fiveup_env import make_agent
from fiveup_env.encoders import ENCODERS
from fiveup_env.encoders.flat import Flat
from fiveup_env.envs.sb3 import FiveUpVecEnv, ScalingExtractor
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import EncoderError
from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.opponents.networks.saved_model import SavedModel

if TYPE_CHECKING:
    from pathlib import Path

torch.set_num_threads(1)

KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "scaled by the environment": ({"scaled": True}, {"net_arch": [16, 8]}),
    "scaled by the network": ({}, {"features_extractor_class": ScalingExtractor}),
    "tokens, ReLU": (
        {"encoder": "tokens"},
        {"activation_fn": torch.nn.ReLU, "net_arch": {"pi": [8], "vf": [16, 4]}},
    ),
}


def saved(path: Path, kind: str = "plain") -> tuple[MaskablePPO, FiveUpVecEnv, str]:
    options, network = KINDS[kind]
    env = FiveUpVecEnv(64, players=2, seed=3, episode="hand", **options)
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=network, n_steps=4, batch_size=8, seed=1)
    model.save(path / "model.zip")
    return model, env, str(path / "model.zip")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_plays_as_it_does_itself(kind: str, tmp_path: Path) -> None:
    model, env, path = saved(tmp_path, kind)
    agent = make_agent(path)
    assert isinstance(agent, SavedModel)
    observations: Any = env.reset()
    for _ in range(12):
        expected, _ = model.predict(
            observations, deterministic=True, action_masks=env.action_masks()
        )
        logits = agent.logits(env.batch.views())
        # Actions that are equal but for rounding may be told apart in another order.
        assert (logits.max(1) - logits[np.arange(64), expected] < 1e-5).all()
        observations, _, _, _ = env.step(expected)


def altered(path: str, **changes: Any) -> None:
    """Write other contents into some files of a zip file."""
    with zipfile.ZipFile(path) as file:
        contents = {name: file.read(name) for name in file.namelist()} | changes
    with zipfile.ZipFile(path, "w") as file:
        for name, content in contents.items():
            file.writestr(name, content)


def test_what_is_pickled_in_a_file_is_not_loaded(tmp_path: Path) -> None:
    _, _, path = saved(tmp_path)
    with zipfile.ZipFile(path) as file:
        about = json.loads(file.read("data"))
    poisoned = {
        name: part | {":serialized:": "Y29zCnN5c3RlbQou"} if isinstance(part, dict) else part
        for name, part in about.items()
    }
    altered(path, data=json.dumps(poisoned).encode())
    assert isinstance(make_agent(path), SavedModel)
    altered(path, **{"policy.pth": b"cos\nsystem\n(S'exit 3'\ntR."})
    with pytest.raises(PolicyError, match="is not a model that Stable-Baselines3 has saved"):
        make_agent(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "is not a model that"), (b"PK", "is not a model that"), (None, "cannot be read")],
)
def test_what_is_no_model_is_refused(content: bytes | None, why: str, tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyError, match=why):
        make_agent(str(path))


def test_a_model_of_other_observations_or_another_activation_is_refused(tmp_path: Path) -> None:
    _, _, path = saved(tmp_path)
    with zipfile.ZipFile(path) as file:
        about = json.loads(file.read("data"))
        with file.open("policy.pth") as content:
            tensors = torch.load(content, weights_only=True)
    about["policy_kwargs"] = {"activation_fn": "<class 'torch.nn.modules.activation.GELU'>"}
    altered(path, data=json.dumps(about).encode())
    with pytest.raises(PolicyError, match="has the activation GELU; Tanh or ReLU can be played"):
        make_agent(path)
    del about["policy_kwargs"]
    tensors["mlp_extractor.policy_net.0.weight"] = torch.zeros(64, 12)
    torch.save(tensors, tmp_path / "policy.pth")
    weights = (tmp_path / "policy.pth").read_bytes()
    altered(path, data=json.dumps(about).encode(), **{"policy.pth": weights})
    with pytest.raises(PolicyError, match="has layers that do not fit rows of flat and the 121"):
        make_agent(path)


class Halves(Flat):
    """An encoder of somebody else, whose rows are as wide as those of `flat`."""

    name, version = "halves", 3

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write rows of flat, in another order."""
        super().encode(views, rows)
        rows[:] = rows[:, ::-1].copy()


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch) -> Halves:
    monkeypatch.setitem(ENCODERS, "halves", Halves())
    return Halves()


def trained_on(env: Any, path: Path, **network: Any) -> tuple[MaskablePPO, str]:
    """Return a model that has learnt for a moment, and its file."""
    model = MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=8, seed=1, policy_kwargs=network)
    model.learn(8)
    model.save(path / "model.zip")
    return model, str(path / "model.zip")


def test_a_model_plays_with_the_encoder_that_it_was_trained_with(
    halves: Halves, tmp_path: Path
) -> None:
    env = FiveUpVecEnv(8, players=2, seed=3, episode="hand", encoder=halves)
    model, path = trained_on(env, tmp_path)
    agent: Any = make_agent(path)
    observations: Any = env.reset()
    chosen, _ = model.predict(observations, deterministic=True, action_masks=env.action_masks())
    logits = agent.logits(env.batch.views())
    assert (logits.max(1) - logits[np.arange(8), chosen] < 1e-5).all()
    alone = FiveUpEnv(players=2, encoder="halves")
    _, path = trained_on(alone, tmp_path)
    assert make_agent(path)._encoder.name == "halves"  # type: ignore[attr-defined]


def test_a_model_of_another_encoder_is_refused_and_not_played_with_flat(
    halves: Halves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = FiveUpVecEnv(8, players=2, episode="hand", encoder=halves)
    model, path = trained_on(env, tmp_path)
    with pytest.raises(PolicyError, match="reads halves, not flat"):
        make_agent(f"{path},encoder=flat")
    with pytest.raises(ValueError, match=r"'halves', 3, .* != RowSpace\('flat', 1"):
        model.set_env(FiveUpVecEnv(8, players=2, episode="hand"))
    monkeypatch.setattr(Halves, "version", 4)
    with pytest.raises(PolicyError, match="reads halves 3; this code has halves 4"):
        make_agent(path)
    monkeypatch.delitem(ENCODERS, "halves")
    with pytest.raises(EncoderError, match="there is no encoder 'halves'"):
        make_agent(path)


def test_a_model_that_does_not_say_its_encoder_is_told_it(tmp_path: Path) -> None:
    _, _, path = saved(tmp_path)
    with zipfile.ZipFile(path) as file:
        about = json.loads(file.read("data"))
    about["observation_space"] = {":type:": "<class 'gymnasium.spaces.box.Box'>", "dtype": "int8"}
    altered(path, data=json.dumps(about).encode())
    with pytest.raises(
        PolicyError, match="does not say which encoder it reads; name it by encoder="
    ):
        make_agent(path)
    assert make_agent(f"{path},encoder=flat")._encoder.name == "flat"  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="has layers that do not fit rows of tokens and the 121"):
        make_agent(f"{path},encoder=tokens")


class Doubling(FlattenExtractor):
    """Looks at observations in a way of its own, without any weights."""

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the observations twice as large."""
        return 2 * super().forward(observations)


def test_a_model_that_changes_what_it_observes_is_refused(tmp_path: Path) -> None:
    env = FiveUpVecEnv(8, players=2, episode="hand")
    _, path = trained_on(env, tmp_path, features_extractor_class=Doubling)
    with pytest.raises(
        PolicyError, match="has the features extractor Doubling; FlattenExtractor or"
    ):
        make_agent(path)
