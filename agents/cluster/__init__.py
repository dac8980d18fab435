"""The laboratory on Ray: training by RLlib and tournaments, on any number of machines.

Ray schedules, restarts and keeps checkpoints; what is played and learnt from is the laboratory's.
"""
