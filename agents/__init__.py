"""The laboratory, which makes the files that the library ships: it learns, fits and tunes.

    policies/   networks in PyTorch, their files, and the agents that play them
    learn/      self-play, expert iteration, exploiters, and the stock baseline
    runs/       the config, folder, checkpoints, metrics and display of a run
    fitting/    what searches and heuristics are measured, fitted and tuned with; teachers
    puzzles/    positions with one best move, for the table
    data/       decisions with a search's values and exact marginals, as Parquet
    cluster/    training and tournaments on Ray
    exact/      the command line of exact results about small games
    openspiel/  agents as OpenSpiel's policies and bots, and its bots as agents
    submit      entries of the leaderboard
    processes   the worker processes of commands that share out work
    version     the version of all this code

Importing this package registers its agents alongside those of the library, and imports none of
them.
"""

from fiveup_env.opponents import register_agent

register_agent("openspiel", "agents.openspiel.bots:OpenSpielIsmcts")
register_agent("torch", "agents.policies.agent:TorchPolicy", in_files=True)
register_agent("torch+search", "agents.policies.agent:TorchSearch", in_files=True)
