"""The bookkeeping of a run: its config, folder, checkpoints, metrics, panel and display."""
