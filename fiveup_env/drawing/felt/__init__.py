"""Where every tile of a hand lies on the felt, compiled: Python's pictures and the page use it.

boxes      boxes of whole cells, sizes, and the exits at which an arm continues from a tile
tree       which tile is attached to which
search     a compact layout: tiles touch, and arms bend
straight   the layout that always works: straight arms, kept apart by connectors
picture    tiles, the marks of the open ends, and the box around everything
"""
