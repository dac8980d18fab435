"""What the arena has in a clone alone; `fiveup_env.arena` plays and counts.

bank        frozen positions with the value of every action, a yardstick that takes seconds
submit      the command line for entries of the leaderboard
"""
