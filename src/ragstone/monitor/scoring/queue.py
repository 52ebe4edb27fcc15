"""The queue of interactions to score, in the store: several scorers may work on it, and none scores what another has claimed.

In the table `monitor_queue`, `wanted` is 0 until the sampling decision and then 1 (rows not wanted are deleted); `claimed` is
the time in microseconds until which a claim holds, 0 without one; `tries` counts claims, so that one that ends the process
counts as well."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import StoreError
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction, now_micros
from ragstone.monitor.scoring.sampling import SamplingPolicy
from ragstone.monitor.state import load_state, save_state
from ragstone.monitor.statements import (
    DAY_MICROS,
    SELECT_INTERACTION,
    add_to_counters,
    decode_interaction,
    format_placeholders,
    get_bucket,
    mark_dirty,
    to_ascii_json,
)
from ragstone.store.database import Connection

log = logging.getLogger("ragstone.monitor")

DECISIONS_PER_COMMIT = 500
"""Interactions decided on in one transaction."""

CLAIM_MICROS = 900_000_000
"""A claim expires after a quarter of an hour, so that the claims of a scorer that died are released."""


@dataclass(frozen=True, slots=True)
class QueuedInteraction:
    """An interaction claimed for scoring."""

    number: int
    """The interaction's number in the store."""
    interaction: Interaction
    drawn: bool
    weight: float
    """As in SamplingDecision."""
    tries: int
    """Claims before this one."""


def decide_sampling(archive: Archive, policy: SamplingPolicy) -> int:
    """Decide on some interactions that are new or have new feedback; returns how many."""
    return archive.run(lambda db: _decide_batch(db, policy)).result()


def claim_batch(archive: Archive, limit: int, newest: float) -> list[QueuedInteraction]:
    """Claim up to `limit` queued interactions: the share `newest` of them from the newest, the others from the oldest.

    An interaction that was claimed before and has no outcome is claimed alone: scoring it may have ended the process."""
    return archive.run(lambda db: _claim_rows(db, limit, newest)).result()


def release_claims(archive: Archive, numbers: Sequence[int]) -> None:
    """Release claims, so that others may claim the interactions at once."""

    def write(db: Connection) -> None:
        db.execute_many(
            "UPDATE monitor_queue SET claimed = 0, tries = tries - 1 WHERE number = ?",
            sorted((n,) for n in numbers),
        )

    archive.run(write).result()


def count_waiting(archive: Archive) -> tuple[int, int]:
    """How many interactions wait for a sampling decision, and how many to be scored."""
    rows = archive.store.read("SELECT wanted, COUNT(*) FROM monitor_queue GROUP BY wanted")
    counts = dict(rows)
    return int(counts.get(0, 0)), int(counts.get(1, 0))


def get_spent_today(archive: Archive) -> tuple[int, float]:
    """Calls and dollars spent on judging since midnight, UTC."""
    now = now_micros()
    counters = archive.counters(now - now % DAY_MICROS)
    return counters.get("judge_calls", 0), counters.get("judge_microusd", 0) / 1e6


def requeue_unscored(archive: Archive, since: int, until: int) -> int:
    """Queue interactions of a time range that have no scores for a new sampling decision; returns how many."""

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


def save_scorer_status(archive: Archive, status: Mapping[str, Any]) -> None:
    """Publish the scorer's status for the server."""
    body, now = to_ascii_json(dict(status)), now_micros()
    archive.run(lambda db: save_state(db, "scoring", body, now)).result()


def load_judge(archive: Archive) -> tuple[str | None, str | None]:
    """Name and fingerprint of the judge that scored last; its scales are found by the fingerprint."""
    status = json.loads(load_state(archive, "scoring") or "{}")
    return status.get("judge"), status.get("judge_identity")


def _decide_batch(db: Connection, policy: SamplingPolicy) -> int:
    numbers = [
        number
        for (number,) in db.execute(
            # newest first: after an outage the current state is known before the backlog is worked
            # off
            "SELECT number FROM monitor_queue WHERE wanted = 0 ORDER BY number DESC LIMIT ?",
            (DECISIONS_PER_COMMIT,),
        )
    ]
    if not numbers:
        return 0
    interactions = _load_interactions(db, numbers)
    sql = f"SELECT DISTINCT number FROM monitor_scores WHERE number IN ({format_placeholders(numbers)})"  # noqa: S608
    scored = {number for (number,) in db.execute(sql, numbers)}
    to_remove: list[tuple[int]] = []
    to_score: list[tuple[int, float, int]] = []
    to_update: list[tuple[int, float, int]] = []
    for number in sorted(numbers):
        interaction = interactions.get(number)
        decision = policy.decide(interaction) if interaction is not None else None
        if decision is None or not decision.wanted:
            to_remove.append((number,))
            continue
        row = (int(decision.drawn), decision.weight, number)
        if number in scored:  # feedback came after the scores: if it is bad, their weight becomes 1
            to_update.append(row)
            to_remove.append((number,))
        else:
            to_score.append(row)
    db.execute_many("DELETE FROM monitor_queue WHERE number = ?", to_remove)
    db.execute_many(
        "UPDATE monitor_queue SET wanted = 1, drawn = ?, weight = ? WHERE number = ?", to_score
    )
    db.execute_many("UPDATE monitor_scores SET drawn = ?, weight = ? WHERE number = ?", to_update)
    mark_dirty(db, {get_bucket(interactions[number].at) for _, _, number in to_update})
    return len(numbers)


def _claim_rows(db: Connection, limit: int, newest: float) -> list[QueuedInteraction]:
    now = now_micros()
    newest_count = round(limit * newest)
    numbers: dict[int, None] = {}
    for direction, count in (("DESC", newest_count), ("ASC", limit - newest_count)):
        sql = (
            "SELECT number FROM monitor_queue WHERE wanted = 1 AND claimed <= ?"  # noqa: S608
            f" ORDER BY number {direction} LIMIT ?"
        )
        numbers.update(dict.fromkeys(number for (number,) in db.execute(sql, (now, count))))
    if not numbers:
        return []
    suspect_sql = (
        f"SELECT number FROM monitor_queue WHERE number IN ({format_placeholders(list(numbers))})"  # noqa: S608
        " AND tries > 0 AND NOT EXISTS"
        " (SELECT 1 FROM monitor_scores s WHERE s.number = monitor_queue.number) LIMIT 1"
    )
    for (suspect,) in list(db.execute(suspect_sql, list(numbers))):
        numbers = {suspect: None}
    sql = (
        f"UPDATE monitor_queue SET claimed = ?, tries = tries + 1 WHERE number IN ({format_placeholders(list(numbers))})"  # noqa: S608
        # checked again in the update: another scorer may have claimed a row since the select
        " AND claimed <= ? RETURNING number, drawn, weight, tries"
    )
    claims = {row[0]: row[1:] for row in db.execute(sql, (now + CLAIM_MICROS, *numbers, now))}
    claimed = []
    for number, interaction in _load_interactions(db, list(claims)).items():
        drawn, weight, tries = claims[number]
        claimed.append(QueuedInteraction(number, interaction, bool(drawn), weight, tries - 1))
    return sorted(claimed, key=lambda item: -item.number)


def _load_interactions(db: Connection, numbers: Sequence[int]) -> dict[int, Interaction]:
    """Number → interaction; one whose row is damaged leaves the queue, so that it does not stop the others."""
    interactions: dict[int, Interaction] = {}
    if not numbers:
        return interactions
    sql = SELECT_INTERACTION.replace("SELECT ", "SELECT i.number, ", 1)
    rows = db.execute(f"{sql} WHERE i.number IN ({format_placeholders(numbers)})", list(numbers))
    for number, *row in list(rows):
        try:
            interactions[number] = decode_interaction(tuple(row))
        except StoreError as error:
            log.warning("not scored: %s", error)
            db.execute("DELETE FROM monitor_queue WHERE number = ?", (number,))
            add_to_counters(db, {"set_aside": 1}, now_micros())
    return interactions
