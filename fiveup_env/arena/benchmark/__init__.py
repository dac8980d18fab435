"""The benchmark: named protocols, the score cards that they give, and entries that can be checked.

    protocol     a protocol: its data file, and whether this code plays it
    games        the games of an agent against the panel, task by task
    figures      the figures of a card, computed from these games
    isolated     memory and mini games, measured in a subprocess
    card         the card, as JSON and as text
    page         the card as an HTML page
    entries      entries of the leaderboard: cards with notes, and how they are checked
    leaderboard  its page

`fiveup benchmark fiveup-v1 --agents AGENT` makes a card, and, in a clone,
`python -m agents.submit` checks entries; docs/understand/benchmark.md explains both.
"""
