"""A deal that can be proved: its seed comes from secrets to which everybody committed before.

    proof = {"digests": [...], "secrets": [...]}

The first secret is the dealer's; at a table of several people, every browser adds one. Digests are
exchanged before any secret, so nobody can choose a secret by those of others. The seed comes from
all secrets by another function than the digests, which say nothing of it. Whoever was shown the
digests before a game can tell afterwards that its tiles were not changed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.errors import FiveUpError, RecordError, shown
from fiveup_env.game.game import Game

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET: Final = re.compile(r"[0-9a-z]{20,64}", re.ASCII)


def fresh_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_hex(16)


def digest_of(secret: str) -> str:
    """Return the digest that commits to a secret."""
    return hashlib.sha256(f"fiveup-secret {secret}".encode()).hexdigest()


def seed_of(all_secrets: Sequence[str]) -> int:
    """Return the seed that follows from all secrets, the dealer's first."""
    digest = hashlib.sha256(f"fiveup-seed {' '.join(all_secrets)}".encode()).hexdigest()
    return int(digest[:16], 16)


def check_proof(proof: Any, game: Game) -> None:
    """Raise RecordError unless a proof is one of the deals of a game."""
    if not isinstance(proof, dict) or proof.keys() != {"digests", "secrets"}:
        raise RecordError(f"a proof is an object with digests and secrets, not {shown(proof)}")
    digests, all_secrets = proof["digests"], proof["secrets"]
    if not isinstance(all_secrets, list) or not all(map(is_secret, all_secrets)) or not all_secrets:
        raise RecordError(
            f"proof: secrets are 20 to 64 letters and digits, not {shown(all_secrets)}"
        )
    if digests != list(map(digest_of, all_secrets)):
        raise RecordError("proof: the secrets do not have these digests")
    if game.seed != seed_of(all_secrets):
        raise RecordError("proof: the seed does not follow from the secrets")
    twin = Game(game.rules, seed=game.seed)
    try:
        for move in game.moves:
            twin.push(move)
    except FiveUpError:
        twin = Game(game.rules, seed=game.seed)
    if twin != game:
        raise RecordError("proof: the tiles are not those that the seed deals")


def is_secret(text: object) -> bool:
    """Return whether a text may be a secret."""
    return isinstance(text, str) and SECRET.fullmatch(text) is not None
