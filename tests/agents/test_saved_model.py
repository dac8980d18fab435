"""Models of Stable-Baselines3 play by their zip files as they play themselves."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from gymnasium.wrappers import FlattenObservation, NormalizeObservation, RescaleObservation
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecFrameStack, VecMonitor, VecNormalize

from fiveup_env import make_agent
from fiveup_env.encoders import ENCODERS
from fiveup_env.envs.sb3 import FiveUpVecEnv, ScalingExtractor, save_statistics
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import EncoderError, OptionError
from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.opponents.networks.saved_model import SavedModel
from tests.own_encoders import PLACE, Backwards, Impostor

if TYPE_CHECKING:
    from pathlib import Path

    from stable_baselines3.common.vec_env import VecEnv

    from fiveup_env import Batch

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


def assert_same_actions(model: Any, games: VecEnv, steps: int) -> None:
    """Assert that a model's file plays in many views as the model does in its own library."""
    batch: Batch = games.get_attr("batch")[0]
    observations: Any = games.reset()
    agent: Any = make_agent("model.zip")
    every = np.arange(games.num_envs)
    for _ in range(steps):
        masks = np.stack(games.env_method("action_masks"))
        expected, _ = model.predict(observations, deterministic=True, action_masks=masks)
        logits = agent.logits(batch.views())
        # Logits that are equal but for rounding may be told apart in another order.
        best, chosen = logits.max(1), agent(batch.views(), np.random.default_rng(0))
        assert ((chosen == expected) | (best - logits[every, expected] < 1e-6)).all()
        observations, _, _, _ = games.step(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_plays_as_it_does_itself(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model, env, path = saved(tmp_path, kind)
    assert isinstance(make_agent(path), SavedModel)
    assert_same_actions(model, env, 12)


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
    with pytest.raises(PolicyError, match=r"has the activation_fn .*GELU; Tanh or ReLU can be"):
        make_agent(path)
    del about["policy_kwargs"]
    tensors["mlp_extractor.policy_net.0.weight"] = torch.zeros(64, 12)
    torch.save(tensors, tmp_path / "policy.pth")
    weights = (tmp_path / "policy.pth").read_bytes()
    altered(path, data=json.dumps(about).encode(), **{"policy.pth": weights})
    with pytest.raises(PolicyError, match="has layers that do not fit rows of flat and the 121"):
        make_agent(path)


@pytest.fixture
def backwards(monkeypatch: pytest.MonkeyPatch) -> Backwards:
    monkeypatch.setitem(ENCODERS, "backwards", Backwards())
    return Backwards()


def trained_on(
    env: Any, path: Path, learner: type = MaskablePPO, **network: Any
) -> tuple[Any, str]:
    """Return a model that has learnt for a moment, and its file."""
    batch = {"n_steps": 4, "batch_size": 4 * getattr(env, "num_envs", 2)}
    options = batch if learner is MaskablePPO else {}
    model = learner("MlpPolicy", env, seed=1, policy_kwargs=network, **options)
    model.learn(8)
    model.save(path / "model.zip")
    return model, str(path / "model.zip")


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_a_model_of_an_encoder_of_ones_own_plays_10000_views_as_it_does_itself(
    backwards: Backwards,
    scaled: bool,
    normalized: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    games: VecEnv = FiveUpVecEnv(500, players=2, seed=3, encoder=backwards, scaled=scaled)
    if normalized:
        games = VecNormalize(games, clip_obs=3.0)
    model, _ = trained_on(games, tmp_path)
    if normalized:
        games.training = False  # type: ignore[attr-defined]
        save_statistics(VecMonitor(games), "model.zip")
    assert_same_actions(model, games, 20)


def test_a_model_trained_alone_names_its_encoder(backwards: Backwards, tmp_path: Path) -> None:
    alone = Monitor(FiveUpEnv(players=2, encoder=backwards, scaled=True))
    _, path = trained_on(alone, tmp_path)
    assert make_agent(path)._encoder.name == "backwards"  # type: ignore[attr-defined]


def test_a_model_without_the_statistics_of_its_normalization_is_refused(tmp_path: Path) -> None:
    games = VecNormalize(FiveUpVecEnv(8, players=2))
    with pytest.raises(PolicyError, match=r"cannot be read .*: save the model first"):
        save_statistics(games, tmp_path / "model.zip")
    model, path = trained_on(games, tmp_path)
    with pytest.raises(PolicyError, match=r"in VecNormalize, .*\.save_statistics writes"):
        make_agent(path)
    save_statistics(games, path)
    make_agent(path)
    beside = tmp_path / "model.statistics.json"
    written = beside.read_text()
    beside.write_text(written.replace('"deviation": [', '"deviation": [0, '))
    with pytest.raises(PolicyError, match="does not hold the statistics of a model"):
        make_agent(path)
    beside.write_text(written)
    model.learn(8)
    model.save(path)
    with pytest.raises(PolicyError, match=r"the statistics of another model .* after each model"):
        make_agent(path)
    with pytest.raises(OptionError, match="are those of a VecNormalize of rows, not of"):
        save_statistics(games.venv, path)


def test_normalized_rewards_alone_change_nothing_in_what_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    games = VecNormalize(FiveUpVecEnv(8, players=2), norm_obs=False)
    model, path = trained_on(games, tmp_path)
    save_statistics(games, path)
    assert_same_actions(model, games, 3)


@pytest.mark.parametrize("learner", [DQN, QRDQN])
def test_a_model_of_another_kind_is_called_what_it_is(learner: type, tmp_path: Path) -> None:
    env = FiveUpVecEnv(4, players=2, illegal="terminate")
    _, path = trained_on(env, tmp_path, learner, net_arch=[4])
    with pytest.raises(PolicyError, match=f"is a {learner.__name__} model of .*; models of PPO, M"):
        make_agent(path)


class OwnPolicy(ActorCriticPolicy):
    """A policy of somebody else."""


def test_a_model_of_ones_own_policy_is_refused(tmp_path: Path) -> None:
    env = FiveUpVecEnv(4, players=2, illegal="terminate")
    PPO(OwnPolicy, env, n_steps=4, batch_size=8).save(tmp_path / "model.zip")
    with pytest.raises(PolicyError, match=r"is a custom model of tests.agents.test_saved_model"):
        make_agent(str(tmp_path / "model.zip"))


def test_a_model_of_another_encoder_is_refused_and_not_played_with_flat(
    backwards: Backwards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = FiveUpVecEnv(8, players=2, episode="hand", encoder=backwards)
    model, path = trained_on(env, tmp_path)
    with pytest.raises(PolicyError, match="reads backwards 3, not flat 1"):
        make_agent(f"{path},encoder=flat")
    with pytest.raises(ValueError, match=r"'backwards', 3, .* != RowSpace\('flat', 1"):
        model.set_env(FiveUpVecEnv(8, players=2, episode="hand"))
    monkeypatch.setattr(Backwards, "version", 4)
    with pytest.raises(PolicyError, match="reads backwards 3, not backwards 4"):
        make_agent(path)
    monkeypatch.delitem(ENCODERS, "backwards")
    with pytest.raises(PolicyError, match="reads backwards, but there is no encoder 'backwards'"):
        make_agent(path)


def test_a_model_is_told_where_its_encoder_is_and_its_file_imports_nothing(
    tmp_path: Path,
) -> None:
    _, path = trained_on(FiveUpVecEnv(4, players=2, encoder=PLACE), tmp_path)
    with pytest.raises(PolicyError, match=r"reads backwards, but there is no .*module:Class"):
        make_agent(path)
    assert isinstance(make_agent(f"{path},encoder={PLACE}"), SavedModel)
    with zipfile.ZipFile(path) as file:
        about = json.loads(file.read("data"))
    about["observation_space"]["name"] = PLACE
    altered(path, data=json.dumps(about).encode())
    with pytest.raises(PolicyError, match=f"reads {PLACE}, but there is no"):
        make_agent(path)


def test_a_model_that_does_not_say_its_encoder_is_told_it(tmp_path: Path) -> None:
    games = FlattenObservation(FiveUpEnv(players=2))  # puts a space without a name
    _, path = trained_on(games, tmp_path)
    with pytest.raises(
        PolicyError, match="does not say which encoder it reads; name it by encoder="
    ):
        make_agent(path)
    assert make_agent(f"{path},encoder=flat")._encoder.name == "flat"  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="other bounds than rows of tokens have"):
        make_agent(f"{path},encoder=tokens")


def test_a_model_is_not_told_an_encoder_whose_rows_a_wrapper_has_changed(tmp_path: Path) -> None:
    for changed in (
        NormalizeObservation(FiveUpEnv(players=2)),
        RescaleObservation(FiveUpEnv(players=2, scaled=True), np.float32(0), np.float32(1)),
    ):
        _, path = trained_on(changed, tmp_path)
        with pytest.raises(PolicyError, match=r"other bounds than rows of flat have: .* a wrapper"):
            make_agent(f"{path},encoder=flat")
    stacked = VecFrameStack(FiveUpVecEnv(4, players=2), 2)
    _, path = trained_on(stacked, tmp_path)
    with pytest.raises(PolicyError, match=r"other bounds|layers that do not fit rows of flat"):
        make_agent(f"{path},encoder=flat")


def test_an_encoder_with_the_name_of_another_is_refused_before_anything_is_trained() -> None:
    with pytest.raises(EncoderError, match=r"there is an encoder 'flat' already.* another name"):
        FiveUpVecEnv(4, players=2, encoder=Impostor())


class Doubling(FlattenExtractor):
    """Looks at observations in a way of its own, without any weights."""

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the observations twice as large."""
        return 2 * super().forward(observations)


def test_a_model_that_changes_what_it_observes_is_refused(tmp_path: Path) -> None:
    env = FiveUpVecEnv(8, players=2, episode="hand")
    _, path = trained_on(env, tmp_path, features_extractor_class=Doubling)
    with pytest.raises(
        PolicyError, match=r"has the features_extractor_class .*Doubling; FlattenExtractor or"
    ):
        make_agent(path)
