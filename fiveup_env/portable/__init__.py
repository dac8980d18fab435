"""The compiled functions as the library that Python loads, a WebAssembly module and a C library.

    front      Numba's LLVM code of functions, joined; kinds of arguments
    native     the library that Python loads; `glue.c` is its side of Python
    calls      how functions are called from outside: pointers, small integers, codes of refusals
    games      rules, deals, moves and views
    agents     the ladder, networks and searches
    beliefs    the number of worlds, and the probability of each place for each tile
    judging    moves tried in sampled worlds, and what deals were worth
    learning   runs of self-play that learn
    pictures   where every tile lies on the felt
    weights    a policy as one block of memory
    build      the module and the C library
    runtime    what compiled code needs of Numba's runtime, in LLVM IR
    describe   fiveup.json and fiveup.h, from the structs and the functions

`python -m fiveup_env.portable` builds; fiveup.wasm and learning.wasm, fiveup.json, fiveup.mjs
and learning.mjs come with the wheel.
"""
