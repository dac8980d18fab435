"""What is measured: each module prints its own table."""
