"""The game in OpenSpiel; importing this package registers it as `fiveup`.

    import pyspiel
    import fiveup_env.doors.openspiel

    game = pyspiel.load_game("fiveup(players=2,max_pip=2,hand_size=2)")

See docs/use/openspiel.md.
"""

from fiveup_env.errors import MissingExtraError

try:
    import pyspiel
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "the adapter needs OpenSpiel: pip install 'fiveup-env[openspiel]' (Python 3.11 or newer)",
        error,
    ) from None

from fiveup_env.doors.openspiel.game import FiveUpGame, load
from fiveup_env.doors.openspiel.observer import FiveUpObserver
from fiveup_env.doors.openspiel.parameters import SHORT_NAME, TYPE
from fiveup_env.doors.openspiel.state import FiveUpState

__all__ = ["SHORT_NAME", "FiveUpGame", "FiveUpObserver", "FiveUpState", "load"]

pyspiel.register_game(TYPE, FiveUpGame)
