"""The bookkeeping of a run: its config, folder, checkpoints, metrics and display."""

from fiveup_env.moved import point_to

__getattr__ = point_to(__name__, ("folder",))
