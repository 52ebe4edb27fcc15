"""The judge's queue in the store: several scorers may work on it, none judges what another has claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction, micros
from ragstone.monitor.scoring.sampling import Policy
from ragstone.monitor.statements import SELECT, bucket_of, decoded, dump, mark, marks
from ragstone.store.database import Connection

DAY = 86_400_000_000

DECIDED = 500
"""Interactions decided on in one transaction."""

CLAIM = 900_000_000
"""A claim holds for a quarter of an hour: a scorer that died holds nothing for long."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An interaction that waits for the judge."""

    number: int
    interaction: Interaction
    drawn: bool
    weight: float
    tries: int


def decide(archive: Archive, policy: Policy) -> int:
    """Decide on some interactions that are new or have new feedback; how many."""
    return archive.run(lambda db: _decide(db, policy)).result()


def claim(archive: Archive, limit: int, newest: float) -> list[Waiting]:
    """Some of the newest and some of the oldest that wait, claimed for the caller."""
    return archive.run(lambda db: _claim(db, limit, newest)).result()


def give_back(archive: Archive, numbers: Sequence[int]) -> None:
    """Let go of a claim: somebody may take them at once."""

    def write(db: Connection) -> None:
        db.execute_many(
            "UPDATE monitor_queue SET claimed = 0 WHERE number = ?", sorted((n,) for n in numbers)
        )

    archive.run(write).result()


def waiting(archive: Archive) -> tuple[int, int]:
    """How many interactions nobody has decided on, and how many wait for the judge."""
    rows = archive.store.read("SELECT wanted, COUNT(*) FROM monitor_queue GROUP BY wanted")
    found = dict(rows)
    return int(found.get(0, 0)), int(found.get(1, 0))


def spent_today(archive: Archive) -> tuple[int, float]:
    """Calls and dollars that judging took since midnight, UTC."""
    now = micros()
    found = archive.counters(now - now % DAY)
    return found.get("judge_calls", 0), found.get("judge_microusd", 0) / 1e6


def requeue(archive: Archive, since: int, until: int) -> int:
    """Put interactions of a stretch of time that have no scores before the decision again; how many."""

    def write(db: Connection) -> int:
        rows = list(
            db.execute(
                "INSERT INTO monitor_queue (number, wanted, drawn, weight, tries, claimed)"
                " SELECT i.number, 0, 0, 0.0, 0, 0 FROM interactions i WHERE i.at >= ? AND i.at < ?"
                " AND NOT EXISTS (SELECT 1 FROM monitor_scores s WHERE s.number = i.number)"
                " ON CONFLICT (number) DO NOTHING RETURNING number",
                (since, until),
            )
        )
        return len(rows)

    return archive.run(write).result()


def leave_word(archive: Archive, facts: Mapping[str, Any]) -> None:
    """Note how the scorer is doing."""
    values = ("scoring", micros(), dump(dict(facts)))
    sql = (
        "INSERT INTO monitor_state (name, updated, body) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET updated = excluded.updated, body = excluded.body"
    )

    def write(db: Connection) -> None:
        db.execute(sql, values)

    archive.run(write).result()


def _decide(db: Connection, policy: Policy) -> int:
    numbers = [
        number
        for (number,) in db.execute(
            "SELECT number FROM monitor_queue WHERE wanted = 0 ORDER BY number DESC LIMIT ?",
            (DECIDED,),
        )
    ]
    if not numbers:
        return 0
    found = {row[0]: decoded(row[1:]) for row in _rows(db, numbers)}
    sql = f"SELECT DISTINCT number FROM monitor_scores WHERE number IN ({marks(numbers)})"  # noqa: S608
    scored = {number for (number,) in db.execute(sql, numbers)}
    away: list[tuple[int]] = []
    wanted: list[tuple[int, float, int]] = []
    known: list[tuple[int, float, int]] = []
    for number in sorted(numbers):
        one = found.get(number)
        choice = policy.choose(one) if one is not None else None
        if choice is None or not choice.wanted:
            away.append((number,))
            continue
        row = (int(choice.drawn), choice.weight, number)
        if number in scored:  # bad feedback came after the scores: it now stands for itself alone
            known.append(row)
            away.append((number,))
        else:
            wanted.append(row)
    db.execute_many("DELETE FROM monitor_queue WHERE number = ?", away)
    db.execute_many(
        "UPDATE monitor_queue SET wanted = 1, drawn = ?, weight = ? WHERE number = ?", wanted
    )
    db.execute_many("UPDATE monitor_scores SET drawn = ?, weight = ? WHERE number = ?", known)
    mark(db, {bucket_of(found[number].at) for _, _, number in known})
    return len(numbers)


def _claim(db: Connection, limit: int, newest: float) -> list[Waiting]:
    now = micros()
    fresh = round(limit * newest)
    numbers: dict[int, None] = {}
    for way, most in (("DESC", fresh), ("ASC", limit - fresh)):
        sql = (
            "SELECT number FROM monitor_queue WHERE wanted = 1 AND claimed <= ?"  # noqa: S608
            f" ORDER BY number {way} LIMIT ?"
        )
        numbers.update(dict.fromkeys(number for (number,) in db.execute(sql, (now, most))))
    if not numbers:
        return []
    sql = (
        f"UPDATE monitor_queue SET claimed = ? WHERE number IN ({marks(list(numbers))})"  # noqa: S608
        " AND claimed <= ? RETURNING number, drawn, weight, tries"
    )
    mine = {row[0]: row[1:] for row in db.execute(sql, (now + CLAIM, *numbers, now))}
    taken = []
    for row in _rows(db, list(mine)) if mine else ():
        drawn, weight, tries = mine[row[0]]
        taken.append(Waiting(row[0], decoded(row[1:]), bool(drawn), weight, tries))
    return sorted(taken, key=lambda one: -one.number)


def _rows(db: Connection, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    sql = SELECT.replace("SELECT ", "SELECT i.number, ", 1)
    return list(db.execute(f"{sql} WHERE i.number IN ({marks(numbers)})", list(numbers)))
