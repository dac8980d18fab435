"""Views: what a seat may know, as compiled code writes and reads them."""

from __future__ import annotations

from io import BytesIO
from random import Random

import numpy as np
import pytest

from fiveup_env import Game, legal_masks
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.view import as_views, observe_at, observe_seats
from fiveup_env.errors import InputError
from fiveup_env.rules.actions import ACTION_COUNT
from tests.support import play_randomly


def test_a_view_has_what_its_seat_drew_and_nothing_that_another_did() -> None:
    game = play_randomly(Game(players=3, draw="optional", seed=0), Random(0), 30)
    state = game.state()[0]
    public = state["public"]
    assert len(set(public["draw_seat"][: public["drawn"]].tolist())) == 3
    for seat in range(3):
        view = np.zeros(1, VIEW)
        view["drawn"] = 1
        observe_at(game.state(), 0, seat, view, 0)
        assert (view["public"] == state["public"]).all()
        assert view[0]["seat"] == seat
        assert view[0]["hand"] == state["hands"][seat]
        own = np.arange(28) < public["drawn"]
        own &= public["draw_seat"] == seat
        assert view["drawn"][0].tolist() == np.where(own, state["order"], -1).tolist()


def test_only_the_seat_to_move_is_shown_what_is_allowed() -> None:
    played = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(4)]
    games = np.concatenate([game.state() for game in played])
    indices, seats = np.array([2, 0, 3]), np.array([played[2].turn, 1 - (played[0].turn or 0), 3])
    views, masks = np.zeros(3, VIEW), np.full((3, ACTION_COUNT), 7, np.int8)
    observe_seats(games, indices, seats, views)
    masks = legal_masks(views)
    for k, (i, seat) in enumerate(zip(indices, seats, strict=True)):
        assert (views[k : k + 1] == played[i].view(int(seat))).all()
        expected = played[i].action_mask() if seat == played[i].turn else np.zeros(ACTION_COUNT)
        assert masks[k].tolist() == expected.tolist()


def test_views_that_lost_their_alignment_are_cast_and_others_are_not_copied() -> None:
    views = Game(seed=1).view()
    assert as_views(views) is views
    file = BytesIO()
    np.save(file, views)
    file.seek(0)
    unaligned = np.load(file)
    for other in (unaligned, views.repeat(2)[::2]):
        read = as_views(other)
        assert read.dtype.isalignedstruct
        assert read.flags.carray
        assert (read == views[0]).all()


def test_what_is_no_row_of_views_is_refused() -> None:
    views = Game(seed=1).view()
    with pytest.raises(InputError, match=r"views are an array of VIEW structs, not \[\]"):
        as_views([])  # type: ignore[arg-type]
    for other in (views[None], views["public"]):
        with pytest.raises(InputError, match="views are a row of VIEW structs, not"):
            as_views(other)
