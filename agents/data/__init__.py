"""Decision data: the decisions of whole games with what a search and the belief know, as Parquet.

    plan   what a data set is made from
    games  the rows, from games that are played and then searched
    files  the rows as Parquet files, and the card of the data set beside them

`python -m agents.data` makes them; docs/understand/data.md describes the columns.
"""
