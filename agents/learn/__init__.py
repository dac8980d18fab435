"""Learning: self-play, stock MaskablePPO as the baseline, expert iteration."""

import os

# Threads that wait for one another must not spin: beside other programs, spinning costs most of
# the time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
