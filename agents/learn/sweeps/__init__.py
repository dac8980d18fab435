"""Sweeps: runs whose keys Optuna chooses, compared by what they measured.

    spec      what a sweep tries: its file in configs/sweeps, checked before anything is written
    trials    the trials of a sweep, one ordinary run each, and how they go on when interrupted
    report    the table and the plot

`python train.py --sweep NAME`; docs/training.md explains the file.
"""
