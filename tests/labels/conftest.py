"""The same tests on every kind of store."""

from places import mostly_sqlite, place, postgres_url

__all__ = ["mostly_sqlite", "place", "postgres_url"]
