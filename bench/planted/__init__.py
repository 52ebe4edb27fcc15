"""Runs of known quality for `bench.conclusions`: healthy ones of several shapes, and ones with a planted fault."""
