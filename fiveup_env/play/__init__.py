"""The table: sit down and play in a browser or a terminal, then study the game.

    sights      what a seat sees at every moment between two of its decisions
    table       a game with its seats: moves, undo, the same deal again
    terminal    the table in a terminal
    frames      what the browser is sent of a sight
    eyes        what an adviser sees in a position, for those who ask
    study       a recorded game, judged, as data and as one page
    guard       what every request must be, and what every answer carries
    house       what a server offers, whose tables are whose, and the threads in which it thinks
    tables      the routes of tables
    studies     the routes of studies
    server      the pages, and who answers which request
    launch      a free port, the server and the browser

The browser is sent what one seat may know, and nothing else. What serves it, from `guard` on, needs
the extra `web`; the rest needs only the library.
"""
