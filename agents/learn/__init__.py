"""Learning: networks, policies as files, and the self-play learner."""

import os

# Threads that wait for each other must not spin: beside other programs that costs most of the time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
