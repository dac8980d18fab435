"""The laboratory holds what learns, and what makes the files that the library ships.

    learn/      self-play, expert iteration, all actions, exploiters, and the stock baseline
    runs/       the config, folder, checkpoints, metrics and display of a run
    cluster/    learning and tournaments on Ray
    policies/   networks in PyTorch, their files, and the agents that play them
    fitting/    the weights of heuristics and of the model of others' moves; teachers
    data/       decisions with a search's values and exact marginals, as Parquet
    puzzles/    positions with one best move, for the table
    openspiel/  agents as OpenSpiel's policies and bots, and its bots as agents
    submit      entries of the leaderboard
    games       whole games between agents, which data and puzzles are made from
    processes   the worker processes of commands that share out work
    version     the version of all this code

Importing this package registers its agents alongside those of the library, and imports none of
them.
"""

from fiveup_env.opponents import register_agent

register_agent("openspiel", "agents.openspiel.bots:OpenSpielIsmcts")
register_agent("torch", "agents.policies.agent:TorchPolicy", in_files=True)
register_agent("torch+search", "agents.policies.agent:TorchSearch", in_files=True)
