"""Sweeps: runs whose keys are chosen by what the runs before them measured.

    spec      what a sweep tries: its file in configs/sweeps, checked before anything is written
    folder    what is kept of a sweep
    choices   how Optuna chooses the keys of a trial
    trials    the trials, one ordinary run each, and how they go on when interrupted
    sequence  trials one after the other; agents/cluster/sweeps.py is the other engine, Ray Tune
    report    the table and the plot

`python train.py --sweep NAME`; docs/training.md explains the file.
"""
