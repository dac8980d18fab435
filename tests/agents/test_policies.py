"""Policies as files: loading returns what was saved and refuses what does not fit; and playing."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from agents.policies import __main__ as commands
from agents.policies.agent import NetworkAgent, TorchPolicy, spec_of
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import PolicyNetwork, Shape, build
from fiveup_env import FiveUpError, Game
from fiveup_env.encoders import ENCODERS, get_encoder, row_size
from fiveup_env.errors import AgentError
from fiveup_env.opponents.networks.files import DESCRIPTION, WEIGHTS, PolicyError, digest_of
from fiveup_env.opponents.networks.policy import NETWORK_ERROR
from fiveup_env.opponents.registry import make_agent
from tests.own_encoders import PLACE, Backwards
from tests.support import python, random_views

torch.set_num_threads(1)

SHAPES = [
    Shape(width=32),
    Shape("residual", 32, 2, shared=True),
    Shape("attention", 32, 1),
    Shape("guided", 32, 1),
    Shape("residual", 32, 1, encoder="tokens"),
]
ABOUT = {"rules": ["five_up"], "command": "python train.py", "results": {"greedy": 0.7}, "5": [1]}


def lively(shape: Shape, seed: int = 0) -> PolicyNetwork:
    """A network whose logits differ as those of a trained one do."""
    torch.manual_seed(seed)
    network = build(shape)
    with torch.no_grad():
        network.policy_head.weight.mul_(200)
        network.worth.copy_(torch.arange(len(network.worth)) * 0.5)
    return network


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_policy(tmp_path / "policy", lively(Shape(width=16)), ABOUT)
    return tmp_path / "policy"


# --- Saved and loaded


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_loaded_is_what_was_saved_bit_for_bit(shape: Shape, tmp_path: Path) -> None:
    network = lively(shape)
    save_policy(tmp_path / "deep" / "policy", network, ABOUT)
    loaded, about = load_policy(tmp_path / "deep" / "policy")
    assert loaded.shape == shape
    assert about == ABOUT
    weights = loaded.state_dict()
    assert list(weights) == list(network.state_dict())
    for name, weight in network.state_dict().items():
        assert torch.equal(weights[name], weight), name
    views = random_views(60, 13)
    ours, theirs = (NetworkAgent(net).probabilities(views) for net in (network, loaded))
    assert (ours == theirs).all()
    assert [p.name for p in tmp_path.iterdir()] == ["deep"]


def test_a_policy_of_an_encoder_of_ones_own_names_it_and_imports_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, views, folder = (
        lively(Shape(width=16, encoder=PLACE)),
        random_views(60, 13),
        tmp_path / "mine",
    )
    save_policy(folder, network, ABOUT)
    expected, rng = NetworkAgent(network).logits(views), np.random.default_rng(0)
    assert spec_of(folder, PLACE) == f"torch:{folder},encoder={PLACE}"
    assert (make_agent(spec_of(folder, PLACE))(views, rng) == expected.argmax(1)).all()
    for place, why in (
        ("", "there is no encoder 'backwards'.*register_encoder, or named module:Class"),
        (",encoder=flat", r"was made for encoder .*backwards.*this code has .*flat"),
    ):
        with pytest.raises(PolicyError, match=why):
            make_agent(f"torch:{folder}{place}")
    with pytest.raises(PolicyError, match="in a clone, torch:"):
        make_agent(f"policy:{folder}")
    monkeypatch.setitem(ENCODERS, "backwards", Backwards())
    assert (NetworkAgent(load_policy(folder)[0]).logits(views) == expected).all()


def test_a_place_in_a_policy_is_a_name_like_any_other(saved: Path) -> None:
    def renamed(description: dict[str, Any], _weights: Any) -> None:
        description["encoder"]["name"] = PLACE

    sealed(saved, renamed)
    with pytest.raises(PolicyError, match=f"there is no encoder '{PLACE}'"):
        load_policy(saved)


def test_a_policy_saved_again_takes_the_place_of_the_one_before_and_of_nothing_else(
    saved: Path,
) -> None:
    (saved / "notes").mkdir()
    (saved / "notes" / "one.txt").write_text("one")
    (saved / "link").symlink_to("notes/one.txt")
    save_policy(saved, lively(Shape(width=8)), {"second": True})
    network, about = load_policy(saved)
    assert network.shape.width == 8
    assert about == {"second": True}
    assert (saved / "link").is_symlink()
    assert (saved / "link").read_text() == (saved / "notes" / "one.txt").read_text() == "one"
    assert [path.name for path in saved.parent.iterdir()] == ["policy"]


def changed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["policies", *words])
    return commands.main()


def test_a_policy_with_divided_logits_chooses_the_same_and_is_less_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = Shape("guided", 32, 1)
    network, (one, other) = lively(shape), (str(tmp_path / name) for name in ("one", "other"))
    save_policy(one, network, ABOUT)
    assert changed(monkeypatch, one, "-o", other, "--divide-logits", "16") == 0
    less_sure, about = load_policy(other)
    assert about.items() > ABOUT.items()
    rows = torch.randint(0, 2, (64, row_size(get_encoder(shape.encoder))), dtype=torch.int8)
    with torch.inference_mode():
        assert torch.equal(less_sure.logits(rows) * 16, network.logits(rows))
        assert torch.equal(less_sure.values(rows), network.values(rows))
    assert changed(monkeypatch, other, "-o", other, "--half") == 0
    weights = load((tmp_path / "other" / WEIGHTS).read_bytes())
    assert {weight.dtype for weight in weights.values()} == {torch.float16}


def test_logits_are_divided_by_a_number_above_0(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for divisor in ("0", "nan", "1e300"):
        assert changed(monkeypatch, str(saved), "-o", str(saved), f"--divide-logits={divisor}") == 2
        sentence = f"--divide-logits must be from 0.001 to 1000.0, not {float(divisor)}"
        assert capsys.readouterr().err == f"policies: {sentence}\n"


def test_half_the_space_rarely_changes_a_choice(tmp_path: Path) -> None:
    network, views, rng = lively(Shape()), random_views(600, 13), np.random.default_rng(0)
    sizes, chosen = [], []
    for half in (False, True):
        save_policy(tmp_path, network, {}, half=half)
        sizes.append((tmp_path / WEIGHTS).stat().st_size)
        chosen.append(NetworkAgent(load_policy(tmp_path)[0])(views, rng))
    assert sizes[1] < 0.51 * sizes[0]
    assert (chosen[0] == chosen[1]).mean() > 0.995


# --- Refused


def sealed(folder: Path, change: Callable[[dict[str, Any], dict[str, torch.Tensor]], None]) -> None:
    """Change a saved policy as somebody would who also knows the digest."""
    description = json.loads((folder / DESCRIPTION).read_text())
    weights = load((folder / WEIGHTS).read_bytes())
    change(description, weights)
    content = save(weights)
    description["digest"] = digest_of(content, description)
    (folder / WEIGHTS).write_bytes(content)
    (folder / DESCRIPTION).write_text(json.dumps(description))


DESCRIPTIONS: list[tuple[Mapping[str, Any], str]] = [
    ({"format": "other"}, r'is not a policy: it lacks "format": "fiveup-policy"'),
    ({"version": 2}, "has format version 2; this code reads version 1"),
    ({"encoder": {"name": "tokens", "version": 1, "row_size": 518}}, "made for encoder .*'row_size': 518.*this code has .*'row_size': 893"),
    ({"about": []}, "it has no 'about' of type dict"),
    ({"shape": {"kind": "plain"}}, "a shape must have kind, width, depth, shared, not kind"),
    ({"shape": {"kind": [], "width": 1, "depth": 2, "shared": False}}, "unhashable"),
    ({"actions": 122}, "made for actions 122; this code has 121"),
    ({"shape": {"kind": "plain", "width": 4096, "depth": 64, "shared": True}}, r"'policy_head.weight' should be \(121, 4096\)"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "why"), DESCRIPTIONS)
def test_descriptions_that_do_not_fit_are_refused(
    saved: Path, fields: Mapping[str, Any], why: str
) -> None:
    sealed(saved, lambda description, _: description.update(fields))
    with pytest.raises(PolicyError, match=why):
        load_policy(saved)


Weights = dict[str, torch.Tensor]
TENSORS: list[tuple[Callable[[Weights], object], str]] = [
    (lambda w: w.pop("worth"), r"'worth' should be \(17,\), but is absent"),
    (lambda w: w.update(more=torch.zeros(1)), r"'more' should be absent, but is \(1,\)"),
    (lambda w: w.update(worth=torch.zeros(18)), r"should be \(17,\), but is \(18,\)"),
    (lambda w: w["worth"].fill_(torch.nan), "'worth' has values that are not finite"),
    (lambda w: w.update(worth=w["worth"].int()), "'worth' holds 'I32', not one of F16, F32, F64"),
]


@pytest.mark.parametrize(("change", "why"), TENSORS)
def test_tensors_that_do_not_fit_are_refused(
    saved: Path, change: Callable[[Weights], object], why: str
) -> None:
    sealed(saved, lambda _, weights: (change(weights), None)[1])
    with pytest.raises(PolicyError, match=why):
        load_policy(saved)


def test_a_network_that_is_not_finite_is_not_saved(tmp_path: Path) -> None:
    network = build(Shape(width=8))
    with torch.no_grad():
        network.worth[3] = 1e6  # too much for half the space
    save_policy(tmp_path / "policy", network, {})
    with pytest.raises(PolicyError, match="'worth' has values that are not finite"):
        save_policy(tmp_path / "policy", network, {}, half=True)
    assert load_policy(tmp_path / "policy")[0].worth[3] == 1e6


@settings(max_examples=30)
@given(st.data())
def test_a_policy_with_one_byte_altered_is_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "altered"
    if not folder.exists():
        save_policy(folder, build(Shape(width=1, depth=1)), ABOUT)
    name = data.draw(st.sampled_from([WEIGHTS, DESCRIPTION]))
    signed = (folder / name).read_bytes()
    place = data.draw(st.integers(0, len(signed) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != signed[place]))
    damaged = bytearray(signed)
    damaged[place] = other
    try:
        (folder / name).write_bytes(damaged)
        if name == DESCRIPTION and same_json(signed, bytes(damaged)):
            load_policy(folder)  # only the space between the words is another
        else:
            with pytest.raises(PolicyError):
                load_policy(folder)
    finally:
        (folder / name).write_bytes(signed)


def same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


class Mischief:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import os; os.environ['FIVEUP_MISCHIEF'] = 'done'",)


def test_a_file_that_holds_no_tensors_is_refused_and_nothing_in_it_runs(saved: Path) -> None:
    content = pickle.dumps(Mischief())
    description = json.loads((saved / DESCRIPTION).read_text())
    description["digest"] = digest_of(content, description)
    (saved / DESCRIPTION).write_text(json.dumps(description))
    (saved / WEIGHTS).write_bytes(content)
    with pytest.raises(PolicyError, match=r"policy\.safetensors does not hold tensors"):
        load_policy(saved)
    assert "FIVEUP_MISCHIEF" not in os.environ


def test_a_description_that_is_none_is_refused(saved: Path) -> None:
    for content in (b"", b"[]", b"\xff\xfe", b"[" * 100_000, b"1" * 9999):
        (saved / DESCRIPTION).write_bytes(content)
        with pytest.raises(PolicyError, match=r"is not (valid JSON|a policy)"):
            load_policy(saved)


def test_missing_files_are_refused_with_what_there_is(saved: Path, tmp_path: Path) -> None:
    for kind in ("policy", "torch"):
        with pytest.raises(PolicyError, match=r"cannot be read.*available policies: family"):
            make_agent(f"{kind}:{tmp_path / 'nowhere'}")
        why = r"^a\\x00b/policy\.json cannot be read \(not a file name\)"
        with pytest.raises(PolicyError, match=why):
            make_agent(f"{kind}:a\0b")
    (saved / WEIGHTS).unlink()
    with pytest.raises(PolicyError, match=r"policy\.safetensors cannot be read \(No such file"):
        load_policy(saved)


# --- Playing


def test_a_spec_chooses_folder_and_options(saved: Path) -> None:
    agent = make_agent(f"torch:{saved},sample=1,temperature=0.5")
    assert agent == TorchPolicy(str(saved), sample=True, temperature=0.5)
    assert make_agent(f"torch:path={saved},sample=False") == TorchPolicy(str(saved))
    for wrong, why in [
        ("sample=2", "sample must be a bool, not '2'"),
        ("temperature=0", "temperature must be above 0, not 0.0"),
        ("device=abacus", "device 'abacus' cannot be used here"),
        ("device=meta", "device 'meta' cannot be used here"),
        ("temperature=nan", "temperature must be a float, not 'nan'"),
        ("more", "no option of torch 'more'"),
    ]:
        with pytest.raises(FiveUpError, match=why):
            make_agent(f"torch:{saved},{wrong}")
    with pytest.raises(AgentError, match="sample must be a bool, not ''"):
        make_agent("policy:sample")


def test_logits_that_are_values_count_by_their_error(tmp_path: Path) -> None:
    network, shares = lively(Shape(width=16, depth=1)), []
    game = Game(seed=1)
    for learner in ("self_play", "expert"):
        save_policy(tmp_path / learner, network, {"config": {"learner": learner}})
        agent = TorchPolicy(str(tmp_path / learner))
        shares.append(agent.probabilities(game.view())[0])
    legal = game.action_mask() > 0
    expected = shares[0][legal] ** (1 / NETWORK_ERROR)
    assert shares[1][legal] == pytest.approx(expected / expected.sum(), rel=1e-4)


def test_actions_are_the_same_in_batches_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, views, rng = (
        NetworkAgent(lively(SHAPES[2])),
        random_views(60, 13),
        np.random.default_rng(0),
    )
    together = agent(views, rng)
    alone = [agent(views[k : k + 1], rng)[0] for k in range(len(views))]
    assert together.tolist() == alone
    monkeypatch.setattr("agents.policies.agent.CHUNK", 7)
    assert agent(views, rng).tolist() == alone
    assert len(set(alone)) > 20


# --- What is installed


def test_without_torch_agents_are_listed_and_a_policy_says_what_to_install(saved: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; import agents;"
        "from fiveup_env.opponents.registry import listing, make_agent;"
        f"print(listing()); make_agent('torch:{saved}')"
    )
    done = python("-W", "error", "-c", code)
    assert re.search("^torch +Plays a policy by PyTorch", done.stdout, re.MULTILINE)
    sentence = "policies need torch: pip install -c constraints.txt -e '.[train]'"
    assert f"MissingExtraError: {sentence}" in done.stderr
