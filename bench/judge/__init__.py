"""The embedded judge against people, left-out set by left-out set: `python -m bench.judge`."""
