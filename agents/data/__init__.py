"""Decision data: the decisions of whole games with what a search and the belief know, as Parquet.

    plan      what a data set is made from, and the columns of its rows
    games     the rows, from games that are played and then searched
    card      what the data are: plan, code, command, counts, digests
    shards    the rows as Parquet files
    making    all shards, on any number of cores
    replays   games dealt and played again from their rows
    checks    rows derived again from their games
    dataset   the rows as tensors
    export    one learner's episodes for Minari

`python -m agents.data` makes, checks and exports; docs/understand/data.md describes the columns.
"""
