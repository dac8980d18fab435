"""Two ways to train compared, over seeds and deals: `python -m agents.compare`.

ways        what is compared, and the runs that train it
games       what the runs' policies make of the same duplicate deals
statistics  means and differences with their intervals, over runs and deals
"""
