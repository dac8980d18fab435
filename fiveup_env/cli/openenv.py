"""`fiveup openenv`: the environment for language models, as a server of OpenEnv."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fiveup_env.cli.shared import RulesOptions, add_command, option


@dataclass(frozen=True, kw_only=True)
class OpenEnvOptions(RulesOptions):
    """What every session plays, and where the server listens."""

    players: int = option(type=int, default=2, help="2 to 5 (default: 2)")
    opponents: str = option(default="partner", metavar="SPECS", help="one agent, or one each")
    episode: str = option(choices=("game", "hand"), default="hand", help="(default: hand)")
    reward: str = option(
        choices=("win", "points", "margin", "loss"),
        default="margin",
        help="loss: what each move costs against the best one (default: margin)",
    )
    prompt: str = option(choices=("bare", "deductions", "notes"), default="bare", help="its kind")
    tools: str = option(default="", metavar="TOOLS", help="to ask: belief, ends, score, history")
    worlds: int = option(type=int, default=0, metavar="N", help="worlds in which moves are judged")
    host: str = option(default="127.0.0.1", help="(default: 127.0.0.1)")
    port: int = option(type=int, default=8000, help="(default: 8000)")
    sessions: int = option(type=int, default=64, metavar="N", help="at the same time (default: 64)")


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "serve the environment for language models, by OpenEnv"
    add_command(commands, "openenv", about, run, OpenEnvOptions)


def run(options: OpenEnvOptions) -> int:
    """Serve until it is stopped, and return the exit status."""
    from fiveup_env.doors.openenv import app_of

    names = ("opponents", "episode", "reward", "prompt", "tools", "worlds")
    chosen = {name: getattr(options, name) for name in names}
    app = app_of(options.sessions, rules=options.chosen_rules(), **chosen)
    import uvicorn

    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")
    return 0
