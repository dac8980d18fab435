"""The laboratory on Ray: training by RLlib and tournaments, on any number of machines.

Ray schedules processes, restarts them and writes checkpoints; the games and what is learnt from
them are the laboratory's own.
"""
