"""Games between agents: chunk by chunk, in processes, kept in a results file.

tournament  every pair of some agents, chunk by chunk
workers     the processes that play the chunks
apart       an agent in a process of its own
games       two agents on one chunk of deals
tally       the compiled loop of a chunk, which counts as it plays
clock       the time that an agent takes
faults      what is reported of an agent at fault
results     the file that holds what has been played
"""
