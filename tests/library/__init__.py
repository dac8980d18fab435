"""What the library promises: these tests need no laboratory."""
