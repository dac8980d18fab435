"""A run of self-play as one block of bytes: settings, games, weights, and the decisions that wait.

Whoever has the block has the run: it can be kept, sent, and continued in any language. The block
begins with a RUN struct; after it come the arrays, each at a multiple of 64 bytes.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple, TypeAlias

import numpy as np

from fiveup_env.encoders import get_encoder
from fiveup_env.engine.chance import GOLDEN, chance_below, scramble
from fiveup_env.engine.state import GAME, PLAYING, ManyRules
from fiveup_env.engine.valid import first_unsound_game
from fiveup_env.learning.adam import linear
from fiveup_env.learning.decisions import Decisions
from fiveup_env.learning.gradients import Memory, memory_for
from fiveup_env.learning.initial import write_initial
from fiveup_env.learning.lanes import ALIGNED
from fiveup_env.learning.losses import FIGURES, PPO, Loss, Targets
from fiveup_env.learning.networks import (
    GUIDED,
    KINDS,
    WORTH_COUNT,
    Columns,
    Shape,
    read_by,
    weight_count,
    weights_in,
)
from fiveup_env.learning.steps import GRADIENT, MOST_RATE, Optimizer, Work, make_step, work_for
from fiveup_env.learning.threads import Crew, all_came, share_of
from fiveup_env.learning.windows import (
    CHANCES,
    HAND,
    PART,
    POINTS,
    REWARDS,
    WHOLE_GAME,
    Games,
    Play,
    Window,
    begin_games,
    keep_waiting,
    list_known,
    play_part,
    seat_for,
)
from fiveup_env.native import (
    Array,
    Bytes,
    DoubleTables,
    Entries,
    Struct,
    array_in,
    compiled,
    inlined,
    inner,
    signed,
)
from fiveup_env.opponents.networks.compiled import MOST_DEPTH, MOST_WIDTH
from fiveup_env.opponents.search.outlook import FARTHEST
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.seats.advantages import WAITING

FORMAT: Final = 504_701  # the first number of a block
SETTINGS = np.dtype(
    [
        ("seed", np.uint64),
        ("network", np.int32),  # an index of KINDS
        ("width", np.int32),
        ("depth", np.int32),
        ("games", np.int32),
        ("ticks", np.int32),  # moves in every game between two updates
        ("epochs", np.int32),
        ("batch_size", np.int32),
        ("reward", np.int32),  # an index of REWARDS
        ("horizon", np.int32),  # HAND or WHOLE_GAME
        ("episode", np.int32),  # a game or a hand
        ("forced", np.int32),
        ("normalize_advantage", np.int32),
        ("warm_up", np.int64),  # decisions from which only values are learnt
        ("gamma", np.float64),
        ("gae_lambda", np.float64),
        ("learning_rate", np.float64),
        ("learning_rate_end", np.float64),
        ("ent_coef", np.float64),
        ("ent_coef_end", np.float64),
        ("clip_range", np.float64),
        ("vf_coef", np.float64),
        ("max_grad_norm", np.float64),
    ],
    align=True,
)
ManySettings: TypeAlias = Annotated[np.ndarray, Entries(SETTINGS)]
# Settings where nothing else is said.
USUAL: Final = {
    "seed": 0,
    "network": GUIDED,
    "width": 64,
    "depth": 1,
    "games": 256,
    "ticks": 64,
    "epochs": 1,
    "batch_size": 1024,
    "reward": POINTS,
    "horizon": HAND,
    "episode": 0,
    "forced": 0,
    "normalize_advantage": 1,
    "warm_up": 0,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "learning_rate": 1e-3,
    "learning_rate_end": 1e-3,
    "ent_coef": 0.03,
    "ent_coef_end": 0.03,
    "clip_range": 0.2,
    "vf_coef": 0.5,
    "max_grad_norm": 0.5,
}
UNEXPLAINED, RATE = GRADIENT + 1, GRADIENT + 2
RUN_FIGURES: Final = (*FIGURES, "gradient", "explained_variance", "learning_rate")
RUN = np.dtype(
    [
        ("format", np.int64),
        ("settings", SETTINGS),
        ("rules", np.int32),  # how many the games take in turn
        ("updates", np.int64),
        ("decisions", np.int64),
        ("steps", np.int64, (2,)),
        ("progress", np.float64),  # the share of the run that is done, for schedules
        ("figures", np.float64, (len(RUN_FIGURES),)),  # means of the last update
    ],
    align=True,
)
Runs: TypeAlias = Annotated[np.ndarray, Entries(RUN)]
READ: Final = tuple(
    read_by(get_encoder(name), guided=name == "lookahead") for name in ("flat", "lookahead")
)
(PLAIN_COLUMNS, PLAIN_FACTORS), (GUIDED_COLUMNS, GUIDED_FACTORS) = READ
RUN_SIZE: Final = RUN.itemsize
GAME_SIZE: Final = GAME.itemsize
GRID: Final = FARTHEST + 1
MOST_GAMES: Final = 1 << 16
MOST_TICKS: Final = 1 << 12
MOST_RULES: Final = 64
MOST_NUMBER: Final = 1e30  # of what has no other bound
MOST_COUNT: Final = (1 << 53) - 1  # of what is counted in a run: JavaScript's largest whole number
# How many entries and actions a decision has, for the memory of a window: generously, as a third
# to a half of the moves are decisions.
USUAL_ENTRIES: Final = 64
USUAL_ACTIONS: Final = 3
LEAST_VARIANCE: Final = 1e-8
LEARNING_STEP: Final = np.uint64(0x8CB92BA72F3D8DD7)


class Run(NamedTuple):
    """The arrays of a block."""

    head: np.ndarray  # one RUN
    games: Games
    optimizer: Optimizer
    window: Window
    samples: np.ndarray  # of the decisions that can be learnt from


@inlined
def settings_fit(settings: Struct) -> bool:
    """Return whether there can be a run with these settings."""
    return bool(
        0 <= settings.network < len(KINDS)
        and 1 <= settings.width <= MOST_WIDTH
        and 1 <= settings.depth <= MOST_DEPTH
        and 1 <= settings.games <= MOST_GAMES
        and 1 <= settings.ticks <= MOST_TICKS
        and 1 <= settings.epochs <= MOST_TICKS
        and 2 <= settings.batch_size <= settings.games * settings.ticks
        and 0 <= settings.reward < len(REWARDS)
        and HAND <= settings.horizon <= WHOLE_GAME
        and 0 <= settings.episode <= 1
        and settings.warm_up >= 0
        and 0 <= settings.gamma <= 1
        and 0 <= settings.gae_lambda <= 1
        and 0 <= settings.learning_rate <= MOST_RATE
        and 0 <= settings.learning_rate_end <= MOST_RATE
        and 0 <= settings.ent_coef <= MOST_NUMBER
        and 0 <= settings.ent_coef_end <= MOST_NUMBER
        and 0 <= settings.clip_range <= MOST_NUMBER
        and 0 <= settings.vf_coef <= MOST_NUMBER
        and 0 <= settings.max_grad_norm <= MOST_NUMBER
    )


@inlined
def shape_of(settings: Struct) -> Shape:
    """Return the shape of a run's network."""
    guided = signed(settings.network) == GUIDED
    columns = GUIDED_COLUMNS if guided else PLAIN_COLUMNS
    return Shape(
        signed(settings.network),
        signed(settings.width),
        signed(settings.depth),
        columns.facts_end - columns.facts,
        columns.feature_count,
    )


@inlined
def columns_of(settings: Struct) -> Columns:
    """Return the offsets of the parts of the rows that a run's network reads."""
    return GUIDED_COLUMNS if settings.network == GUIDED else PLAIN_COLUMNS


@inlined
def factors_of(settings: Struct) -> Array:
    """Return the factors of a run's network for the entries of rows."""
    return GUIDED_FACTORS if settings.network == GUIDED else PLAIN_FACTORS


@inner
def _sizes(settings: Struct, rules: int) -> tuple[int, ...]:
    """Return the bytes of every array of a block, in order."""
    shape = shape_of(settings)
    games, ticks = signed(settings.games), signed(settings.ticks)
    seats, weights = games * MAX_PLAYERS, weight_count(shape)
    parts = (games + PART - 1) // PART
    # A window always has room for a move in every game, beside all that may wait.
    moves, waiting = PART * ticks, PART * (MAX_PLAYERS + 2)
    decisions = parts * (moves + waiting)
    entries = parts * (moves * USUAL_ENTRIES + waiting * shape.entries)
    actions = parts * (moves * USUAL_ACTIONS + waiting * ACTION_COUNT)
    grids = rules if settings.reward == CHANCES else 0
    return (
        RUN_SIZE,
        games * GAME_SIZE,
        games * 8,  # keys
        games * 8,  # episodes
        games * 8,  # moves
        seats * 4,  # waiting
        seats * 8,  # chances
        grids * GRID * GRID * 8,
        seats * 4,  # rewards
        games,  # endings
        weights * 4,
        2 * weights * 4,  # moments
        parts * 8,  # counts
        decisions * 8,  # ends of entries
        entries * 2,
        entries,  # their numbers
        decisions * 8,  # ends of actions
        actions,
        actions,  # their units
        actions * shape.features,
        actions * 4,  # log-probabilities
        decisions * 4,  # chosen
        decisions * 4,  # their log-probabilities
        decisions * 4,  # advantages
        decisions * 4,  # returns
        decisions * 4,  # values
        decisions * 4,  # rewards
        decisions * 4,  # owners
        decisions * 4,  # following
        decisions * 8,  # samples
    )


@inlined
def _end(size: int) -> int:
    """Return the first offset where the next array may begin."""
    return (size + ALIGNED - 1) // ALIGNED * ALIGNED


@inner
def block_size(settings: ManySettings, rules: int) -> int:
    """Return the size of a block in bytes, for games that take so many rules in turn.

    Return 0 where one SETTINGS, in an array, does not fit.
    """
    total = 0
    if settings_fit(settings[0]):
        for size in _sizes(settings[0], rules):
            total += _end(size)
    return total


@inner
def run_in(block: Bytes) -> Run:
    """Return the arrays of a block (uint8), which share its memory."""
    head = array_in(block, 0, RUN, (1,))
    sizes = _sizes(head[0].settings, signed(head[0].rules))
    starts, at = np.empty(len(sizes), np.int64), 0
    for k, size in enumerate(sizes):
        starts[k] = at
        at += _end(size)
    shape, count = shape_of(head[0].settings), signed(head[0].settings.games)
    grids, weights = sizes[7] // (GRID * GRID * 8), weight_count(shape)
    entries, actions, decisions = sizes[15], sizes[17], sizes[29] // 8
    seats = (count, MAX_PLAYERS)
    games = Games(
        array_in(block, starts[1], GAME, (count,)),
        array_in(block, starts[2], np.uint64, (count,)),
        array_in(block, starts[3], np.int64, (count,)),
        array_in(block, starts[4], np.int64, (count,)),
        array_in(block, starts[5], np.int32, seats),
        array_in(block, starts[6], np.float64, seats),
        array_in(block, starts[7], np.float64, (grids, GRID, GRID)),
        array_in(block, starts[8], np.float32, seats),
        array_in(block, starts[9], np.int8, (count,)),
    )
    optimizer = Optimizer(
        array_in(block, starts[10], np.float32, (weights,)),
        array_in(block, starts[11], np.float32, (2, weights)),
        head[0].steps,
    )
    features = (actions, shape.features)
    held = Decisions(
        array_in(block, starts[13], np.int64, (decisions,)),
        array_in(block, starts[14], np.uint16, (entries,)),
        array_in(block, starts[15], np.int8, (entries,)),
        array_in(block, starts[16], np.int64, (decisions,)),
        array_in(block, starts[17], np.uint8, (actions,)),
        array_in(block, starts[18], np.uint8, (actions,)),
        array_in(block, starts[19], np.int8, features),
    )
    targets = Targets(
        array_in(block, starts[21], np.int32, (decisions,)),
        array_in(block, starts[22], np.float32, (decisions,)),
        array_in(block, starts[23], np.float32, (decisions,)),
        array_in(block, starts[24], np.float32, (decisions,)),
        array_in(block, 0, np.float32, (0,)),
        array_in(block, 0, np.float32, (0,)),
    )
    window = Window(
        held,
        targets,
        array_in(block, starts[25], np.float32, (decisions,)),
        array_in(block, starts[26], np.float32, (decisions,)),
        array_in(block, starts[27], np.int32, (decisions,)),
        array_in(block, starts[28], np.int32, (decisions,)),
        array_in(block, starts[12], np.int64, (sizes[12] // 8,)),
        array_in(block, starts[20], np.float32, (actions,)),
    )
    samples = array_in(block, starts[29], np.int64, (decisions,))
    return Run(head, games, optimizer, window, samples)


@compiled
def is_run_head(head: Runs) -> bool:
    """Return whether a RUN, in an array of one, is that of a block."""
    rules = head[0].rules
    return bool(
        head[0].format == FORMAT
        and 1 <= rules <= MOST_RULES
        and settings_fit(head[0].settings)
        and 0 <= head[0].updates <= MOST_COUNT
        and 0 <= head[0].decisions <= MOST_COUNT
        and 0 <= head[0].steps[0] <= MOST_COUNT
        and 0 <= head[0].steps[1] <= MOST_COUNT
        and head[0].progress >= 0
    )


@compiled
def is_run(block: Bytes) -> bool:
    """Return whether bytes are of a run that `update` can go on with."""
    if len(block) < RUN_SIZE:
        return False
    head = array_in(block, 0, RUN, (1,))
    if not is_run_head(head):
        return False
    settings = np.empty(1, SETTINGS)
    settings[0] = head[0].settings
    if len(block) != block_size(settings, signed(head[0].rules)):
        return False
    run = run_in(block)
    return first_unsound_game(run.games.states)[0] < 0 and _go_on(run.games) and _are_sound(run)


@inlined
def _go_on(games: Games) -> bool:
    """Return whether all games of a run are in the middle of a hand."""
    for g in range(len(games.states)):
        if games.states[g].public.phase != PLAYING:
            return False
        if not (0 <= games.episodes[g] <= MOST_COUNT and 0 <= games.moves[g] <= MOST_COUNT):
            return False
    return True


@inlined
def _are_sound(run: Run) -> bool:
    """Return whether the decisions of a run are such as `update` or `settle` leaves them.

    A window then has room for those that wait: a seat has one at most.
    """
    window, decisions, shape = run.window, run.window.decisions, shape_of(run.head[0].settings)
    parts = len(window.counts)
    size = len(window.values) // parts
    is_waiting = np.zeros(len(run.games.states) * MAX_PLAYERS, np.bool_)
    for part in range(parts):
        if not 0 <= window.counts[part] < size:
            return False
        entry = part * (len(decisions.entries) // parts)
        action = part * (len(decisions.actions) // parts)
        last_entry = entry + len(decisions.entries) // parts
        last_action = action + len(decisions.actions) // parts
        for n in range(part * size, part * size + window.counts[part]):
            if decisions.entry_ends[n] != entry or decisions.action_ends[n] != action:
                return False
            entry, action = decisions.entry_ends[n + 1], decisions.action_ends[n + 1]
            if not decisions.entry_ends[n] <= entry <= last_entry:
                return False
            if not decisions.action_ends[n] < action <= last_action:
                return False
            if window.following[n] == WAITING:
                if not _can_wait(run, n, part, shape) or is_waiting[window.owners[n]]:
                    return False
                is_waiting[window.owners[n]] = True
    return True


@inlined
def _can_wait(run: Run, n: int, part: int, shape: Shape) -> bool:
    """Return whether a decision can wait for the next window."""
    window, decisions = run.window, run.window.decisions
    game, seat = window.owners[n] // MAX_PLAYERS, window.owners[n] % MAX_PLAYERS
    if not (part * PART <= game < min((part + 1) * PART, len(run.games.states))):
        return False
    if seat >= run.games.states[game].public.rules.players:
        return False
    first, end = decisions.action_ends[n], decisions.action_ends[n + 1]
    size, chosen = decisions.entry_ends[n + 1] - decisions.entry_ends[n], window.targets.chosen[n]
    if size > shape.entries or not 0 <= chosen < end - first <= ACTION_COUNT:
        return False
    for k in range(first, end):
        if decisions.actions[k] >= ACTION_COUNT or decisions.units[k] >= WORTH_COUNT:
            return False
    for k in range(decisions.entry_ends[n], decisions.entry_ends[n + 1]):
        if decisions.entries[k] >= shape.entries:
            return False
    return True


@inlined
def play_of(settings: Struct) -> Play:
    """Return the settings of play of a run."""
    return Play(
        signed(settings.ticks),
        signed(settings.episode),
        signed(settings.reward),
        signed(settings.horizon),
        settings.forced != 0,
        settings.gamma,
        settings.gae_lambda,
    )


@compiled
def begin_run(block: Bytes, settings: ManySettings, rules: ManyRules, grids: DoubleTables) -> None:
    """Begin a run in a block of zeros, with new weights and one SETTINGS in an array.

    `grids` are the outlooks of all rules, none unless the reward is the chance to win.
    """
    head = array_in(block, 0, RUN, (1,))
    head[0].format, head[0].settings, head[0].rules = FORMAT, settings[0], len(rules)
    run = run_in(block)
    for g in range(len(run.games.states)):
        run.games.states[g].public.rules = rules[g % len(rules)]
    for k in range(len(run.games.grids)):
        for own in range(GRID):
            for rival in range(GRID):
                run.games.grids[k, own, rival] = grids[k, own, rival]
    write_initial(run.optimizer.vector, shape_of(settings[0]), settings[0].seed)
    begin_games(run.games, play_of(settings[0]), settings[0].seed)


@inner
def _shuffle(heads: Array, samples: Array, count: int, epoch: int) -> None:
    """Put what is learnt from in a random order, that of an update's epoch."""
    head = heads[0]
    key = scramble(scramble(head.settings.seed + LEARNING_STEP) + np.uint64(head.updates) * GOLDEN)
    key = scramble(key + np.uint64(epoch + 1) * GOLDEN)
    for k in range(count - 1, 0, -1):
        j = chance_below(key, k, k + 1)
        samples[k], samples[j] = samples[j], samples[k]


@inlined
def minibatch_count(count: int, size: int) -> int:
    """Return the number of minibatches of about this size."""
    return max(1, (count + size // 2) // size)


@inlined
def minibatch(samples: Array, number: int, of: int) -> Array:
    """Return one of nearly equal minibatches."""
    return samples[len(samples) * number // of : len(samples) * (number + 1) // of]


@inner
def _list(run: Run, work: Work) -> None:
    """List what can be learnt from, and measure how well its values are expected."""
    returns, values = run.window.targets.returns, run.window.values
    count = work.known[0] = list_known(run.window, run.samples)
    error, total, errors, totals = 0.0, 0.0, 0.0, 0.0
    for n in run.samples[:count]:
        wanted, expected = float(returns[n]), values[n]
        error += (wanted - expected) / count
        total += wanted / count
        errors += (wanted - expected) * (wanted - expected) / count
        totals += wanted * wanted / count
    unexplained = (errors - error * error) / max(totals - total * total, LEAST_VARIANCE)
    run.head[0].figures[UNEXPLAINED], work.sums[:] = 1 - unexplained, 0


@inner
def work_of(block: Bytes) -> Work:
    """Return the memory that the threads of an update share."""
    run = run_in(block)  # whose minibatches differ by less than a half from the size that is set
    size = signed(run.head[0].settings.batch_size) * 3 // 2 + 1
    return work_for(run.optimizer.vector, min(size, len(run.samples)))


@compiled
def update(block: Bytes, work: Work, crew: Crew) -> bool:
    """Play a window in all games and learn from it, each thread its share.

    Return whether all that was learnt is finite, and all threads came; if not, the weights are
    those before the step that failed.
    """
    run = run_in(block)
    settings = run.head[0].settings
    memory = memory_for(weights_in(run.optimizer.vector, shape_of(settings)))
    play(run, memory, crew)
    if not all_came(crew):
        return False
    if crew.thread == 0:
        _list(run, work)
    return all_came(crew) and _learn(run, memory, work, crew)


@inner
def play(run: Run, memory: Memory, crew: Crew) -> None:
    """Play a window in a thread's share of the games."""
    settings, window = run.head[0].settings, run.window
    weights, how = weights_in(run.optimizer.vector, shape_of(settings)), play_of(settings)
    columns, factors = columns_of(settings), factors_of(settings)
    seat = seat_for(memory, columns)
    first, end = share_of(len(window.counts), crew)
    for part in range(first, end):
        play_part(how, run.games, window, weights, factors, columns, part, seat)


@inlined
def _learn(run: Run, memory: Memory, work: Work, crew: Crew) -> bool:
    """Learn from a window, whose decisions are listed."""
    head, settings, count = run.head[0], run.head[0].settings, work.known[0]
    number = minibatch_count(count, settings.batch_size)
    rate = linear(settings.learning_rate, settings.learning_rate_end, head.progress)
    loss = Loss(
        PPO,
        settings.vf_coef,
        settings.clip_range,
        linear(settings.ent_coef, settings.ent_coef_end, head.progress),
        0.0,
        settings.normalize_advantage != 0,
    )
    steps = settings.epochs * number if count else 0
    for step in range(steps):
        if step % number == 0:
            if crew.thread == 0:
                _shuffle(run.head, run.samples, count, step // number)
            if not all_came(crew):
                return False
        if not make_step(
            shape_of(settings),
            run.optimizer,
            factors_of(settings),
            run.window.decisions,
            run.window.targets,
            minibatch(run.samples[:count], step % number, number),
            loss,
            rate,
            settings.max_grad_norm,
            1 if head.decisions < settings.warm_up else 0,
            memory,
            work,
            crew,
        ):
            return False
    if crew.thread == 0:
        for name in range(UNEXPLAINED):
            head.figures[name] = work.sums[name] / max(1, steps)
        head.figures[RATE] = rate
        head.updates += 1
        head.decisions += count
    return True


@compiled
def settle(block: Bytes) -> None:
    """Write 0 wherever nothing is that the next update depends on, before a block is kept."""
    run = run_in(block)
    window, parts = run.window, len(run.window.counts)
    for part in range(parts):
        base, count = keep_waiting(run.games, window, part)
        _clear_after(window, base + count, part + 1, parts)
    run.samples[:] = 0


@inlined
def _clear_after(window: Window, n: int, following: int, parts: int) -> None:
    """Write 0 after a decision, to where the following part begins."""
    decisions, targets = window.decisions, window.targets
    entry, action = decisions.entry_ends[n], decisions.action_ends[n]
    end = following * (len(decisions.entries) // parts)
    decisions.entries[entry:end], decisions.numbers[entry:end] = 0, 0
    end = following * (len(decisions.actions) // parts)
    decisions.actions[action:end], decisions.units[action:end] = 0, 0
    decisions.features[action:end], window.logs[action:end] = 0, 0
    end = following * (len(window.values) // parts)
    decisions.entry_ends[n + 1 : end], decisions.action_ends[n + 1 : end] = 0, 0
    targets.chosen[n:end], targets.log_probabilities[n:end] = 0, 0
    targets.advantages[n:end], targets.returns[n:end] = 0, 0
    window.values[n:end], window.rewards[n:end] = 0, 0
    window.owners[n:end], window.following[n:end] = 0, 0
