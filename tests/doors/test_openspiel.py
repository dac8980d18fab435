"""The game in OpenSpiel: its own checks, the same game as ours, and what nobody may see."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import FiveUpError, Game, Rules, raw_env
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.state import BLOCKED, GAME
from fiveup_env.errors import (
    BeliefError,
    DealError,
    IllegalMoveError,
    MissingExtraError,
    OptionError,
    RulesError,
)
from fiveup_env.game import view_of
from fiveup_env.rules.actions import DRAW, MOVES
from fiveup_env.rules.fields import FIELDS
from tests.support import EVERY_PRESET, label

pyspiel = pytest.importorskip("pyspiel", reason="the door to OpenSpiel (no OpenSpiel)")

from open_spiel.python.algorithms import generate_playthrough, get_all_states  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402
from open_spiel.python.tests import games_sim_test  # noqa: E402

from fiveup_env.doors.openspiel import FiveUpState, load  # noqa: E402
from fiveup_env.envs.playthrough import DRAWING  # noqa: E402

PLAYTHROUGHS = Path(__file__).parent / "playthroughs"
VARIANTS = [
    "fiveup",
    "fiveup(players=4)",
    "fiveup(players=4,teams=False,draw=optional,reserve=2)",
    "fiveup(players=3,rules=all_fives,reward=win)",
    "fiveup(players=5,episode=game,max_hands=2)",
    "fiveup(players=3,episode=game,reward=win,max_hands=5,target=5,game_end=immediate)",
    "fiveup(max_pip=2,hand_size=2,multiple=3,draw=optional)",
    "fiveup(players=3,rules=all_fives,lead_tile=highest_double,block_pays=difference)",
    "fiveup(episode=game,max_hands=4,lead_tile=highest_double,leader=rotate,hand_size=3)",
]


def sampler() -> Any:
    """Numbers from 0 to 1, as OpenSpiel hands them over."""
    return Random(5).random


def states(game: Any, seed: int) -> Iterator[FiveUpState]:
    """Every state of a random game."""
    state, random = game.new_initial_state(), Random(seed)
    while not state.is_terminal():
        yield state
        state.apply_action(random.choice(state.legal_actions()))
    yield state


def decisions(game: Any, seed: int) -> Iterator[FiveUpState]:
    """The states of a random game in which somebody is to move."""
    return (state for state in states(game, seed) if state.current_player() >= 0)


def follow(game: Game, state: FiveUpState) -> None:
    """Let chance say in OpenSpiel what it says in a game of ours, up to the next decision."""
    truth = game.state()[0]
    while state.is_chance_node():
        playthrough = state.playthrough
        if len(playthrough.dealt) < game.rules.players * game.rules.hand_size:
            seat = len(playthrough.dealt) // game.rules.hand_size
            state.apply_action(
                next(t.id for t in game.hand_of(seat) if t.id not in playthrough.dealt)
            )
        elif playthrough.next_draw == 0 and not game.plays:
            state.apply_action(game.lead)
        else:
            state.apply_action(int(truth["order"][playthrough.next_draw]))


def a_decision(game: Any, seed: int) -> FiveUpState:
    """One in the middle of a random game."""
    reached = [state.clone() for state in decisions(game, seed)]
    return reached[len(reached) // 2]


def draw_in_vain(before: np.ndarray, state: FiveUpState) -> None:
    """Let chance draw what our game drew in the move that ended a hand."""
    while state.is_chance_node():
        state.apply_action(int(before[0]["order"][state.playthrough.next_draw]))


# --- OpenSpiel's own checks


@pytest.mark.parametrize("name", VARIANTS)
def test_openspiels_own_checks_pass(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    np.random.seed(1)  # noqa: NPY002 - OpenSpiel's test takes its chance from there
    games_sim_test.GamesSimTest().sim_game(game)
    assert "terminated with" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted(PLAYTHROUGHS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_playthrough_is_the_one_that_was_read(path: Path) -> None:
    read = path.read_text(encoding="utf-8")
    name = read.splitlines()[0].removeprefix("game: ")
    actions = [int(line.split()[1]) for line in read.splitlines() if line.startswith("action: ")]
    # Without the tensors, which other tests hold against our encoders.
    tensor = r"(?m)^(InformationState|Observation)Tensor\(.*\n([ ◯◉].*\n)*"
    assert re.sub(tensor, "", generate_playthrough.playthrough(name, actions)) == read


# --- The same game as ours


@pytest.mark.parametrize("rules", [*EVERY_PRESET[::4], Rules.preset("mini-3", 3)], ids=label)
def test_the_same_deal_and_moves_give_the_same_masks_and_observations(rules: Rules) -> None:
    game, random = Game(rules, seed=3), Random(3)
    state, before = load(rules).new_initial_state(), game.state()
    flat, tokens = get_encoder("flat"), get_encoder("tokens")
    while game.hand_number == 0 and game.outcome() is None:
        follow(game, state)
        assert state.current_player() == game.turn
        assert state.legal_actions_mask() == game.action_mask().tolist()
        for seat in range(rules.players):
            for encoder, tensor in (
                (flat, state.observation_tensor(seat)),
                (tokens, state.information_state_tensor(seat)),
            ):
                row = np.empty((1, row_size(encoder)), np.int8)
                encoder.encode(game.view(seat), row)
                assert tensor == row[0].tolist()
        before, move = game.state(), random.choice(list(game.legal_moves))
        state.apply_action(move.action)
        game.push(move)
        if game.hand_number == 0 and game.outcome() is None:
            drawn = (int(struct["public"]["drawn"][0]) for struct in (before, game.state()))
            assert state.is_chance_node() == (next(drawn) < next(drawn))
    draw_in_vain(before, state)
    assert state.is_terminal()


@pytest.mark.parametrize(("players", "reward"), [(2, "win"), (4, "margin")])
def test_returns_are_the_sum_of_the_rewards_that_the_environment_gives(
    players: int, reward: Any
) -> None:
    env, random = raw_env(players=players, episode="hand", reward=reward), Random(9)
    env.reset(seed=9)
    game = Game(players=players, seed=9)
    state = load(players=players, reward=reward).new_initial_state()
    before, rewards = game.state(), np.zeros(players)
    while not any(env.terminations.values()):
        follow(game, state)
        before, action = game.state(), random.choice(state.legal_actions())
        state.apply_action(action)
        game.push(MOVES[action])
        env.step(action)
        rewards += list(env.rewards.values())
    draw_in_vain(before, state)
    assert state.returns() == pytest.approx(rewards)
    assert rewards.any()


def test_every_rule_field_is_a_parameter_and_presets_decide_about_the_others() -> None:
    specified = pyspiel.load_game("fiveup").get_type().parameter_specification
    assert set(FIELDS) <= set(specified)
    rules = Rules.preset("all_fives", 3, reserve=1, draw="optional", exact_target=True, unit=1)
    assert load(rules).rules == rules
    assert pyspiel.load_game("fiveup(rules=muggins,players=3)").rules == Rules.preset("muggins", 3)
    game = load("all_fives", 4, reserve=2, episode="game", reward="win")
    again = pyspiel.load_game(str(game))
    assert (again.rules, again.episodes) == (game.rules, game.episodes)


# --- Chance


def test_a_forced_draw_waits_for_chance_and_any_tile_of_the_boneyard_may_come() -> None:
    for state in states(load(players=2, reserve=1), 1):
        if state.is_chance_node() and state.playthrough.stage == DRAWING:
            tiles = [tile for tile, _ in state.chance_outcomes()]
            boneyard = state.playthrough.games["order"][0, state.playthrough.next_draw :].tolist()
            assert tiles == sorted({*boneyard} - {-1})
            return
    pytest.fail("nobody drew")


def led_hands(game: Any, seed: int) -> Iterator[FiveUpState]:
    """The states of a random game in which a hand is to be led."""
    return (
        state
        for state in decisions(game, seed)
        if not state.playthrough.games["public"]["plies"][0]
    )


def test_where_the_highest_double_leads_chance_has_no_say_in_it() -> None:
    game = load(players=2, episode="game", max_hands=20, lead_tile="highest_double")
    forced = []
    for state in led_hands(game, 2):
        tile = int(state.playthrough.games["public"]["forced_lead"][0])
        ended = [
            np.frombuffer(hand, GAME)["public"]["ended"][0] for hand in state.playthrough.finished
        ]
        blocked = not ended or ended[-1] == BLOCKED
        assert (tile >= 0) == blocked
        assert not state.playthrough.by_lot
        assert state.legal_actions() == [tile] if blocked else len(state.legal_actions()) > 1
        forced.append(blocked)
    assert set(forced) == {False, True}


@pytest.mark.parametrize("leader", ["winner", "rotate"])
def test_a_hand_that_no_lot_decided_is_an_episode_of_its_own_with_the_same_leader(
    leader: Any,
) -> None:
    rules = Rules.preset("five_up", 3, lead_tile="highest_double", leader=leader)
    theirs, rng = load(rules), np.random.default_rng(1)
    for seed in range(2):
        game, choice = Game(rules, seed=seed), Random(seed)
        while game.hand_number < 2:
            if len(game.legal_moves) > 1:
                state = theirs.state_of(game.view(), rng)
                mover = state.current_player()
                assert mover == game.turn
                assert state.playthrough.view(mover)["public"]["lead"] == game.lead
                assert state.legal_actions() == game.action_mask().nonzero()[0].tolist()
                other = state.resample_from_infostate(mover, sampler())
                assert other.information_state_string() == state.information_state_string()
            game.push(choice.choice(list(game.legal_moves)))


# --- What is seen


@pytest.mark.parametrize("name", VARIANTS)
def test_states_drawn_from_an_information_state_share_it_and_hide_the_truth(name: str) -> None:
    game, draw = pyspiel.load_game(name), sampler()
    differ = 0
    for state in decisions(game, 6):
        other = state.resample_from_infostate(state.current_player(), draw)
        for method in (
            *(FiveUpState.information_state_string, FiveUpState.information_state_tensor),
            *(FiveUpState.observation_string, FiveUpState.observation_tensor),
            FiveUpState.legal_actions,
        ):
            assert method(other) == method(state)
        assert len(other.history()) == len(state.history())
        differ += str(other) != str(state)
    assert differ


def test_the_struct_of_an_observation_is_the_view_as_json() -> None:
    state = a_decision(load("five_up", 2), 1)
    for player in (None, 0, 1):
        struct = state.to_observation_struct(player)
        seat = state.current_player() if player is None else player
        assert (view_of(struct.to_dict()) == state.playthrough.view(seat)).all()
        assert json.loads(struct.to_json()) == struct.to_dict()
    with pytest.raises(BeliefError, match="only where somebody is to move"):
        load("five_up", 2).new_initial_state().to_observation_struct()


@pytest.mark.parametrize(
    "fields", [{}, {"draw": "optional", "hand_size": 1, "reserve": 2}], ids=["forced", "optional"]
)
def test_information_states_recall_everything_and_tell_nothing_else(fields: dict[str, Any]) -> None:
    game = load("mini-2", 2, **fields)
    # What every state's mover has seen, as text, against the same told in the simplest way.
    stories: dict[str, set[Any]] = {}
    for state in get_all_states.get_all_states(game, include_chance_states=False).values():
        if not state.is_terminal():
            text = state.information_state_string()
            stories.setdefault(text, set()).add(seen(state, state.current_player()))
    assert all(len(same) == 1 for same in stories.values())
    assert len({story for same in stories.values() for story in same}) == len(stories)


def seen(state: FiveUpState, seat: int) -> tuple[Any, ...]:
    """What a seat has seen, read from OpenSpiel's own history."""
    again, story = state.get_game().new_initial_state(), []
    for action in state.history():
        event = again.action_to_string(action)
        if again.is_chance_node() and "draws" in event and f"seat {seat} " not in event:
            event = event.rpartition(" ")[0]
        if not event.startswith("deal") or event.endswith(f"to {seat}"):
            story.append((again.current_player(), event))
        again.apply_action(action)
    return seat, *story


def test_public_observers_tell_every_player_the_same_and_no_hand() -> None:
    game = load(players=3)
    public = pyspiel.IIGObservationType(
        public_info=True, perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE
    )
    observer = make_observation(game, public)
    assert not {"hand", "plays"} & {*observer.dict}
    for state in decisions(game, 3):
        texts = set()
        for seat in range(3):
            for alike in (state, state.resample_from_infostate(seat, sampler())):
                observer.set_from(alike, seat)
                texts.add((observer.tensor.tobytes(), observer.string_from(alike, seat)))
        assert len(texts) == 1


def test_pieces_of_an_observer_share_the_memory_of_its_tensor_and_nonsense_is_refused() -> None:
    game = load(players=2)
    observer = make_observation(game)
    observer.set_from(a_decision(game, 3), 0)
    assert list(observer.dict) == [piece.name for piece in get_encoder("flat").pieces]
    parts = np.concatenate([part.ravel() for part in observer.dict.values()])
    assert parts.tolist() == observer.tensor.tolist()
    nothing = pyspiel.IIGObservationType(False, True, pyspiel.PrivateInfoType.SINGLE_PLAYER)
    with pytest.raises(OptionError, match="without public information"):
        make_observation(game, nothing)
    with pytest.raises(OptionError, match="no parameters"):
        make_observation(game, None, {"colour": 1})


# --- What is refused


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("fiveup(hand_size=99)", RulesError, "hand_size must be"),
        ("fiveup(rules=five_upp)", RulesError, "did you mean 'five_up'"),
        ("fiveup(reward=points)", OptionError, "zero-sum"),
        ("fiveup(episode=game,max_hands=0)", OptionError, "max_hands must be 1 or more"),
        ("fiveup(episode=week)", OptionError, "no episode 'week'"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(
    name: str, error: type[FiveUpError], says: str
) -> None:
    with pytest.raises(error, match=says):
        pyspiel.load_game(name)


def test_what_cannot_happen_is_refused_and_changes_nothing() -> None:
    state = load(players=2).new_initial_state()
    state.apply_action(5)
    for tile in (5, 3, 27):
        with pytest.raises(DealError, match="cannot be dealt here"):
            state.apply_action(tile)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    before = str(state)
    with pytest.raises(IllegalMoveError, match="allowed: "):
        state.apply_action(DRAW)
    assert str(state) == before
    with pytest.raises(BeliefError, match="where somebody is to move"):
        load(players=2).new_initial_state().resample_from_infostate(0, sampler())


def test_a_missing_openspiel_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("fiveup_env.doors.openspiel")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fiveup-env\[openspiel\]'"):
        import fiveup_env.doors.openspiel  # noqa: F401
