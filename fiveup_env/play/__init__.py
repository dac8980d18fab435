"""The table: sit down and play in a browser or a terminal, then study the game.

    static        the page: the game lives in it, with the compiled engine, agents and judging
    page          its files, for a server or a folder
    answers       what an agent would do in a view, for the page
    folder        a folder of games on disk
    guard         what every request must be, and what every answer carries
    server        which request gets what
    shared_table  a table of people at their own browsers
    lobby         all such tables: who has come, what they say and are sent
    launch        a free port, the server and the browser
    table         a game, somebody in one of its seats and agents in the others: for the terminal,
                  and for language models (`doors.mcp`)
    terminal      the table in a terminal

The page sends an agent of the server what one seat may know, and nothing else. What serves it, from
`guard` to `launch`, needs the extra `web`; the rest needs only the library.
"""
