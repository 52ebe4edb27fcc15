"""The same tests on every kind of store."""

from places import place, postgres_url

__all__ = ["place", "postgres_url"]
