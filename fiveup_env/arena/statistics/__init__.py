"""What games show about agents. The deal, in all its seatings, is the unit.

bootstrap   intervals of means over deals
duels       two agents compared on the same deals
ratings     Elo and Nash averaging
sequential  a test of two agents that ends as soon as it can tell
standings   everything that the tables and the report show
"""
