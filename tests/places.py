"""Where a store can be opened, of each kind: fixtures for the same tests on SQLite and PostgreSQL."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A running PostgreSQL; format the URL with a database's name."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed (tests/install-system-packages.sh)")
    with postgres.cluster() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new, empty store can be opened."""
    return make_place(request, tmp_path)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def mostly_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new, empty store can be opened, for costly tests whose file has others that run on PostgreSQL each time."""
    return make_place(request, tmp_path)


def make_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Make a new place for a store of the kind that the test is run with."""
    if request.param == "sqlite":
        return str(tmp_path / "s.db")
    url = request.getfixturevalue("postgres_url")
    import psycopg

    name = f"t{next(_numbers)}"
    with psycopg.connect(url.format("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    return str(url.format(name))
