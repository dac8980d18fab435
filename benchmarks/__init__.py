"""Benchmarks: each module prints its own table."""
