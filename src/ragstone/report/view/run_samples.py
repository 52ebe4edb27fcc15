"""The samples of a run as the viewer asks the store for them: which fit a filter, in which order, and how they are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.analysis.stats import Moments
from ragstone.report.remarks import shorten
from ragstone.report.view.traits import TRAITS
from ragstone.store import StoredRun
from ragstone.store.texts import search_condition

POSITION = "position"
"""Sorts by the order of the data."""
SPREAD = "disagreement"
"""Sorts by how far the values of `SampleQuery.compared` lie apart in the runs side by side."""
CHANGE = "change"
"""The trait of samples that are `better` or `worse` in `SampleQuery.compared` than in the baseline."""
TITLE_CHARS = 140


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Values of a metric from the lowest to the highest, both included unless `excludes_high`."""

    metric: str
    low: float | None = None
    high: float | None = None
    excludes_high: bool = False


@dataclass(frozen=True, slots=True)
class SampleQuery:
    """Which samples are wanted, and in which order."""

    text: str = ""
    ranges: tuple[ValueRange, ...] = ()
    traits: tuple[tuple[str, str], ...] = ()
    """Trait (`verdict`, `class`, `language`, `outcome.METRIC`, `label.METRIC`, `meta.FIELD`) and value."""
    positions: tuple[int, ...] | None = None
    """Only these samples; None: all."""
    excluded_positions: tuple[int, ...] = ()
    sort: str = POSITION
    descending: bool = False
    compared: str = ""
    """The metric by which runs side by side are compared."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a sample stands in an order."""

    rank: int
    """How many stand before it."""
    before: int | None
    """Position of the sample before it."""
    after: int | None


@dataclass(frozen=True, slots=True)
class RowHead:
    """A sample as a list shows it, without its texts."""

    position: int
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class TraitCount:
    """How many samples have a value of a trait."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A score as a list shows it."""

    value: float | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Moved:
    """How many samples a run answers better and worse than the baseline, of those that both have scored."""

    better: int
    worse: int
    both: int


@dataclass(slots=True)
class _Condition:
    """Part of a query: what must hold of `v.position`, and the values for its placeholders."""

    sql: str = ""
    values: list[Any] = field(default_factory=list)
    sole: str = ""
    """The query for the positions, where there is one and nothing else to hold."""

    def add(self, sql: str, *values: Any) -> None:
        self.sole = "" if self.sql else sql
        self.sql += f" AND v.position IN ({sql})"
        self.values += values

    def add_list(self, word: str, positions: Sequence[int]) -> None:
        self.sole = ""
        self.sql += f" AND v.position {word} ({_join(positions)})"


class RunSamples:
    """The samples of one run, beside those of `peers` with the same ids; every question is a query of the store.

    The first peer is the baseline unless the run itself is; `is_aligned`: each peer has the same ids in the same order."""

    def __init__(
        self,
        run: StoredRun,
        peers: Sequence[StoredRun] = (),
        *,
        is_aligned: bool = False,
        is_baseline: bool = False,
    ) -> None:
        self._run = run
        self._peers = [run.store.find_number(peer.id) for peer in peers]
        self._baseline = self._peers[0] if self._peers and not is_baseline else None
        self._is_aligned = is_aligned
        self._store = run.store
        self._number = run.store.find_number(run.id)
        self.rows = run.count()
        self.metrics: tuple[str, ...] = tuple(str(metric["name"]) for metric in run.info.metrics)
        self._counts: dict[tuple[str, SampleQuery], list[TraitCount]] = {}
        """What `summarise_by` has counted already."""
        self._moved: dict[tuple[str, str], str] = {}
        """Metric and direction → the samples that moved so against the baseline, as SQL lists them."""
        self._all: SampleQuery | None = None
        """A filter that was found to leave no sample out."""
        self.has_traits = bool(self._read_derived(TRAITS))
        """Whether traits and texts are there to filter by: they are made in the background."""

    # ── which samples ─────────────────────────────────────────────────────────────────────

    def is_everything(self, wanted: SampleQuery) -> bool:
        """Whether no sample is left out."""
        return not self._build_condition(wanted).sql

    def count(self, wanted: SampleQuery) -> int:
        """How many samples fit."""
        condition = self._build_condition(wanted)
        if not condition.sql:
            return self.rows
        if condition.sole:  # no need to look up each of them among the samples
            sql, values = f"SELECT COUNT(*) FROM ({condition.sole}) AS found", condition.values  # noqa: S608
        else:
            sql = f"SELECT COUNT(*) FROM samples v WHERE v.run = ?{condition.sql}"  # noqa: S608
            values = [self._number, *condition.values]
        ((count,),) = self._store.read(sql, values)
        if count == self.rows:  # nothing is left out: no need to filter again
            self._all = wanted
        return int(count)

    def page(self, wanted: SampleQuery, offset: int = 0, limit: int | None = None) -> list[int]:
        """Positions of the samples that fit, sorted; those without a value of the metric come last."""
        direction = "DESC" if wanted.descending else "ASC"
        order = f"v.value IS NULL, v.value {direction}, v.position"
        if wanted.sort not in (*self.metrics, SPREAD):
            order = f"v.position {direction}"
        source, values, condition = self._source(wanted)
        # a LIMIT is needed before an OFFSET
        limit = self.rows if limit is None else limit
        rows = self._store.read(
            f"SELECT v.position FROM {source}{condition.sql} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
            [*values, *condition.values, limit, offset],
        )
        return [position for (position,) in rows]

    def find_place(self, wanted: SampleQuery, position: int) -> Place | None:
        """Where a sample stands in the order; None where it does not fit."""
        column = "v.value" if wanted.sort in (*self.metrics, SPREAD) else "v.position"
        source, values, condition = self._source(wanted)
        select = f"FROM {source}{condition.sql}"
        known = [*values, *condition.values]
        found = self._store.read(f"SELECT {column} {select} AND v.position = ?", [*known, position])
        if not found:
            return None
        value = found[0][0]
        up, down = ("<", ">") if wanted.descending else (">", "<")
        if value is None:  # after all that have a value, in the order of the data
            before, after = (
                "v.value IS NOT NULL OR v.position < ?",
                "v.value IS NULL AND v.position > ?",
            )
            marks: list[Any] = [position]
        else:
            before = f"{column} {down} ? OR ({column} = ? AND v.position < ?)"
            after = f"{column} {up} ? OR ({column} = ? AND v.position > ?) OR {column} IS NULL"
            marks = [value, value, position]
        # not by OFFSET, which would put all samples in order: each of these looks at them once
        ((rank,),) = self._store.read(f"SELECT COUNT(*) {select} AND ({before})", [*known, *marks])
        to_last, to_first = ("ASC", "DESC") if wanted.descending else ("DESC", "ASC")
        last = f"ORDER BY {column} IS NULL DESC, {column} {to_last}, v.position DESC LIMIT 1"
        first = f"ORDER BY {column} IS NULL, {column} {to_first}, v.position LIMIT 1"
        previous = self._store.read(
            f"SELECT v.position {select} AND ({before}) {last}", [*known, *marks]
        )
        following = self._store.read(
            f"SELECT v.position {select} AND ({after}) {first}", [*known, *marks]
        )
        return Place(int(rank), *(rows[0][0] if rows else None for rows in (previous, following)))

    def _source(self, wanted: SampleQuery) -> tuple[str, list[Any], _Condition]:
        """The table that holds what is sorted by, as `v`."""
        condition = self._build_condition(wanted)
        if wanted.sort in self.metrics:
            return (
                "scores v WHERE v.run = ? AND v.metric = ?",
                [self._number, wanted.sort],
                condition,
            )
        if wanted.sort == SPREAD:
            spread, values = self._build_spread(wanted.compared)
            return f"({spread}) v WHERE v.position <= ?", [*values, self.rows], condition
        return "samples v WHERE v.run = ?", [self._number], condition

    def _build_spread(self, metric: str) -> tuple[str, list[Any]]:
        """Positions with how far a metric's values lie apart in the runs."""
        numbers = _join([self._number, *self._peers])
        select = "MAX(v.value) - MIN(v.value) AS value"
        if self._is_aligned:
            return (
                f"SELECT v.position AS position, {select} FROM scores v"  # noqa: S608
                f" WHERE v.metric = ? AND v.run IN ({numbers}) GROUP BY v.position",
                [metric],
            )
        # CROSS: SQLite then looks the samples up by their ids in this order, each by an index
        return (
            f"SELECT own.position AS position, {select} FROM samples own CROSS JOIN samples s CROSS JOIN scores v"  # noqa: S608
            f" WHERE own.run = ? AND s.run IN ({numbers}) AND s.id = own.id"
            " AND v.run = s.run AND v.metric = ? AND v.position = s.position GROUP BY own.position",
            [self._number, metric],
        )

    def _join_peer(self, peer: int, metric: str) -> tuple[str, list[Any]]:
        """The scores of a metric in this run as `v`, and of the same samples in a peer as `b`."""
        values = [self._number, metric, peer]
        where = "v.run = ? AND v.metric = ? AND b.run = ? AND b.metric = v.metric"
        if self._is_aligned:
            return f"scores v JOIN scores b ON b.position = v.position WHERE {where}", values
        return (
            "scores v CROSS JOIN samples own CROSS JOIN samples s CROSS JOIN scores b"
            f" WHERE {where} AND own.run = v.run AND own.position = v.position"
            " AND s.run = b.run AND s.id = own.id AND b.position = s.position",
            values,
        )

    def count_moved(self, wanted: SampleQuery) -> Moved:
        """How many of the samples that fit are better and worse than in the baseline."""
        if self._baseline is None:
            return Moved(0, 0, 0)
        source, values = self._join_peer(self._baseline, wanted.compared)
        condition = self._build_condition(wanted)
        sums = ", ".join(
            f"SUM(CASE WHEN v.value {sign} b.value THEN 1 ELSE 0 END)" for sign in (">", "<")
        )
        rows = self._store.read(
            f"SELECT {sums}, COUNT(v.value + b.value) FROM {source}{condition.sql}",  # noqa: S608
            [*values, *condition.values],
        )
        risen, fallen, both = (int(n or 0) for n in rows[0])
        is_up = self.is_higher_better(wanted.compared)
        return Moved(risen if is_up else fallen, fallen if is_up else risen, both)

    def is_higher_better(self, metric: str) -> bool:
        """Whether higher values of a metric are better."""
        return all(m["higher_is_better"] for m in self._run.info.metrics if m["name"] == metric)

    def _build_condition(self, wanted: SampleQuery) -> _Condition:
        condition, run = _Condition(), self._number
        if wanted == self._all:
            return condition
        for part in wanted.ranges:
            sql, values = (
                "SELECT position FROM scores WHERE run = ? AND metric = ?",
                [run, part.metric],
            )
            sql += " AND value IS NOT NULL"
            if part.low is not None:
                sql, values = f"{sql} AND value >= ?", [*values, part.low]
            if part.high is not None:
                sql, values = (
                    f"{sql} AND value {'<' if part.excludes_high else '<='} ?",
                    [*values, part.high],
                )
            condition.add(sql, *values)
        for trait, value in wanted.traits:
            if trait == CHANGE:
                if self._baseline is None:
                    continue
                source, values = self._join_peer(self._baseline, wanted.compared)
                sign = ">" if (value == "better") == self.is_higher_better(wanted.compared) else "<"
                key = (wanted.compared, value)
                if key not in self._moved:  # once for all queries of a page
                    sql = f"SELECT v.position FROM {source} AND v.value {sign} b.value"  # noqa: S608
                    self._moved[key] = _join([at for (at,) in self._store.read(sql, values)])
                condition.sql += f" AND v.position IN ({self._moved[key]})"
                continue
            where, values, column = self._locate_trait(trait, "t")
            condition.add(f"SELECT t.position FROM {where} AND t.{column} = ?", *values, value)  # noqa: S608
        if wanted.positions is not None:
            condition.add_list("IN", wanted.positions)
        if wanted.excluded_positions:
            condition.add_list("NOT IN", wanted.excluded_positions)
        if wanted.text.strip():
            if self.has_traits:
                sql, values = search_condition(self._store, run, wanted.text)
                condition.add(sql, *values)
            else:
                condition.add_list("IN", ())
        return condition

    def _locate_trait(self, trait: str, alias: str) -> tuple[str, list[Any], str]:
        """Table and condition of the rows of a trait, its values, and the column that holds the value of the trait."""
        kind, _, name = trait.partition(".")
        if kind in ("outcome", "label"):
            given = "outcome <> 'ok'" if kind == "outcome" else "label IS NOT NULL"
            where = (
                f"scores {alias} WHERE {alias}.run = ? AND {alias}.metric = ? AND {alias}.{given}"
            )
            return where, [self._number, name], kind
        where = f"sample_traits {alias} WHERE {alias}.run = ? AND {alias}.trait = ?"
        return where, [self._number, trait], "value"

    # ── how they are spread ───────────────────────────────────────────────────────────────

    def list_traits(self) -> list[str]:
        """The traits that there is something to choose from."""
        rows = self._store.read(
            "SELECT trait FROM trait_counts WHERE run = ? GROUP BY trait"
            " HAVING COUNT(*) > 1 OR trait = 'verdict' OR substr(trait, 1, 8) = 'outcome.'",
            (self._number,),
        )
        return sorted(
            (trait for (trait,) in rows),
            key=lambda trait: (
                trait.startswith("meta."),
                trait != "verdict",
                trait != "class",
                trait,
            ),
        )

    def count_trait(self, trait: str, wanted: SampleQuery) -> list[TraitCount]:
        """The values of a trait among the samples that fit, the most frequent first."""
        if (trait, wanted) in self._counts:
            return self._counts[trait, wanted]
        condition = self._build_condition(wanted)
        if not condition.sql:
            rows = self._store.read(
                "SELECT value, samples FROM trait_counts WHERE run = ? AND trait = ?",
                (self._number, trait),
            )
        else:
            where, values, column = self._locate_trait(trait, "v")
            rows = self._store.read(
                f"SELECT v.{column}, COUNT(*) FROM {where}{condition.sql} GROUP BY v.{column}",  # noqa: S608
                [*values, *condition.values],
            )
        return sorted(
            (TraitCount(value, int(n)) for value, n in rows), key=lambda pair: -pair.count
        )

    def load_values(self, metric: str, wanted: SampleQuery | None = None) -> list[float]:
        """The values of a metric among the samples that fit, in no order."""
        condition = self._build_condition(wanted) if wanted is not None else _Condition()
        rows = self._store.read(
            f"SELECT v.value FROM scores v WHERE v.run = ? AND v.metric = ?{condition.sql}"  # noqa: S608
            " AND v.value IS NOT NULL",
            [self._number, metric, *condition.values],
        )
        return [value for (value,) in rows]

    def summarise_by(
        self, trait: str, metric: str, wanted: SampleQuery
    ) -> list[tuple[str, int, Moments]]:
        """The values of a trait among the samples that fit, each with its number of samples and what the metric is there."""
        condition = self._build_condition(wanted)
        if not condition.sql:
            rows = self._store.read(
                "SELECT c.value, c.samples, s.scored, s.total, s.squares, s.cubes, s.lowest, s.highest"
                " FROM trait_counts c JOIN trait_scores s"
                " ON s.run = c.run AND s.trait = c.trait AND s.value = c.value"
                " WHERE c.run = ? AND c.trait = ? AND s.metric = ?",
                (self._number, trait, metric),
            )
        else:
            where, values, column = self._locate_trait(trait, "v")
            source, _, where = where.partition(" WHERE ")
            rows = self._store.read(
                f"SELECT v.{column}, COUNT(*), COUNT(m.value), SUM(m.value), SUM(m.value * m.value),"  # noqa: S608
                " SUM(m.value * m.value * m.value), MIN(m.value), MAX(m.value)"
                f" FROM {source} JOIN scores m ON m.run = v.run AND m.metric = ? AND m.position = v.position"
                f" WHERE {where}{condition.sql} GROUP BY v.{column}",
                [metric, *values, *condition.values],
            )
        counts = (TraitCount(str(value), int(count)) for value, count, *_ in rows)
        self._counts[trait, wanted] = sorted(counts, key=lambda pair: -pair.count)
        low = min((row[6] for row in rows if row[6] is not None), default=0.0)
        high = max((row[7] for row in rows if row[7] is not None), default=0.0)
        return [
            (str(value), int(count), _to_moments(int(n), total, squares, cubes, low, high))
            for value, count, n, total, squares, cubes, _, _ in rows
        ]

    # ── what a list shows ─────────────────────────────────────────────────────────────────

    def read_heads(self, positions: Sequence[int]) -> list[RowHead]:
        """Id and question of some samples, in the order given."""
        known = self._run.rows_at(positions)
        return [
            RowHead(at, known[at].id, shorten(known[at].sample.question or "", TITLE_CHARS))
            for at in positions
        ]

    def read_cells(
        self, positions: Sequence[int], metrics: Sequence[str]
    ) -> dict[tuple[int, str], Cell]:
        """The scores of some samples."""
        if not positions or not metrics:
            return {}
        marks = ", ".join("?" * len(metrics))
        rows = self._store.read(
            "SELECT position, metric, value, outcome FROM scores"  # noqa: S608
            f" WHERE run = ? AND metric IN ({marks}) AND position IN ({_join(positions)})",
            [self._number, *metrics],
        )
        return {
            (position, metric): Cell(value, outcome) for position, metric, value, outcome in rows
        }

    def read_traits(self, trait: str, positions: Sequence[int]) -> dict[int, str]:
        """The value of a trait of some samples."""
        rows = self._store.read(
            "SELECT value, position FROM sample_traits WHERE run = ? AND trait = ?"  # noqa: S608
            f" AND position IN ({_join(positions)})",
            (self._number, trait),
        )
        return {position: value for value, position in rows}

    def read_column(
        self, metric: str, wanted: SampleQuery, peer: int | None = None
    ) -> list[tuple[int, str, str | None, float | str]]:
        """Position, id, group and value of a metric, or the outcome where there is none, of the samples that fit.

        With `peer` they are those of this peer, at its own positions."""
        condition = self._build_condition(wanted)
        number = self._number if peer is None else self._peers[peer]
        source = (
            "scores v JOIN samples s ON s.run = v.run AND s.position = v.position"
            " WHERE v.run = ? AND v.metric = ?"
        )
        values: list[Any] = [number, metric]
        if condition.sql and peer is not None and not self._is_aligned:
            fits = f"SELECT v.position FROM samples v WHERE v.run = ?{condition.sql}"  # noqa: S608
            source += f" AND s.id IN (SELECT o.id FROM samples o WHERE o.run = ? AND o.position IN ({fits}))"  # noqa: S608
            values += [self._number, self._number, *condition.values]
        elif condition.sql:
            source += condition.sql
            values += condition.values
        rows = self._store.read(
            "SELECT v.position, s.id, s.cluster, v.value, v.outcome, v.kind"  # noqa: S608
            f" FROM {source} ORDER BY v.position",
            values,
        )
        return [
            (
                at,
                id,
                cluster,
                value if value is not None else f"{outcome}: {kind}" if kind else outcome,
            )
            for at, id, cluster, value, outcome, kind in rows
        ]

    def find_in_peer(self, peer: StoredRun, heads: Sequence[RowHead]) -> dict[int, int]:
        """Where some samples of this run stand in a peer: position here → position there."""
        found = self._store.find_positions(peer.id, [head.id for head in heads])
        if self._is_aligned:  # an id that repeats stands for each of its samples
            return {head.position: head.position for head in heads if head.id in found}
        return {head.position: found[head.id] for head in heads if head.id in found}

    def find_positions(self, ids: Sequence[str]) -> dict[str, int]:
        """Where samples of these ids stand; of an id that repeats, the first."""
        return self._store.find_positions(self._run.id, ids)

    def _read_derived(self, name: str) -> list[tuple[Any, ...]]:
        return self._store.read(
            "SELECT stamp FROM run_derived WHERE run = ? AND name = ?", (self._number, name)
        )


def has_same_ids(run: StoredRun, peer: StoredRun) -> bool:
    """Whether a peer has the samples of a run, in the same order."""
    sql = (
        "SELECT COUNT(*) FROM samples a JOIN samples b ON b.position = a.position AND b.id = a.id"
        " WHERE a.run = ? AND b.run = ?"
    )
    numbers = [run.store.find_number(one.id) for one in (run, peer)]
    ((same,),) = run.store.read(sql, numbers)
    return bool(same == run.count())


def _join(positions: Sequence[int]) -> str:
    """Positions for an IN (…); numbers of ours, never a text."""
    return ", ".join(str(int(position)) for position in positions) or "NULL"


def _to_moments(
    n: int, total: float | None, squares: float | None, cubes: float | None, low: float, high: float
) -> Moments:
    if not n or total is None or squares is None or cubes is None:
        return Moments(0, 0.0, 0.0, 0.0, low, high)
    mean = total / n
    around = max(squares - n * mean * mean, 0.0)
    third = cubes - 3 * mean * squares + 2 * n * mean**3
    return Moments(n, mean, around, third, low, high)
