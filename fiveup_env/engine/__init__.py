"""The compiled game: the rules exist here once, and every interface calls them.

    state       the structs that hold a game, and what their numbers mean
    chance      what is dealt: the hands, the boneyard's order and the lot
    layout      where a tile may be set, and what the open ends count
    legality    the actions that are allowed
    scoring     what a play and the end of a hand bring
    play        what happens next: moves, forced draws and passes, the next hand
    view        what one seat may know

Inside compiled code a function takes one struct (`game`, `public`, `layout`) and reads like
ordinary Python. The functions that Python calls end in `_at`, or deal with hands; they take an
array and an index, because passing one struct from Python costs four times as much.
"""
