"""Doors for other minds, and to other libraries, each of these behind an extra of its own.

prompts         what a language model is asked, and how its answer is read
text            the environment for language models
text_benchmark  the benchmark of players through text
openspiel       the games in OpenSpiel
textarena       TextArena

Programs in other languages are agents by `fiveup_env.opponents.programs`.
"""
