"""The game in other ecosystems, each behind an extra of its own."""
