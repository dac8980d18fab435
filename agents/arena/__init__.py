"""The arena: agents meet on duplicate deals, and what comes of it."""
