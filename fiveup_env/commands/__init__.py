"""What lies behind the command line: its promises, its doctor, and what agents meet in.

promises    the nearest name for an unknown one, and one line for whatever ends a command
evaluate    agents compared on duplicate deals, and score cards
doctor      what is installed, and what is wrong with it
"""
