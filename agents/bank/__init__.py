"""The bank: frozen positions with the value of every action, a yardstick that takes seconds.

    positions  the positions that several agents meet as they play each other
    storage    the bank as a file
    regret     what agents lose on the bank, and its tables

`python -m agents.bank AGENT...` measures agents; docs/understand/arena.md explains the figures.
"""
