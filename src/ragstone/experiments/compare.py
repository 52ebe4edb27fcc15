"""Compare runs from Python: the verdicts, the league of several runs, tables and reports of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone.analysis.columns import ComparableRun
from ragstone.analysis.compare import MARGIN
from ragstone.analysis.compare import compare as compare_columns
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.league import League, build_league
from ragstone.analysis.preferences import PreferenceStudy
from ragstone.analysis.recommend import Recommendation, recommend
from ragstone.display import Displayed
from ragstone.errors import RagstoneError
from ragstone.experiments.run import Run
from ragstone.store import Store


@dataclass(frozen=True, repr=False)
class ComparisonResult(Displayed):
    """A comparison of runs, and for more than two the league and which to choose."""

    comparison: Comparison
    runs: Mapping[str, ComparableRun]
    """By id."""
    league: League | None = None
    recommendation: Recommendation | None = None
    preferences: PreferenceStudy | None = None
    """What a judge says that saw the answers side by side."""

    def to_frame(self) -> Any:
        """One row for each run and metric: means, difference, interval, p and verdict."""
        names = {run_id: run.info.name for run_id, run in self.runs.items()}
        columns = ("metric", "family", "before", "after", "difference", "low", "high", "p", "adjusted", "verdict", "pairs")  # fmt: skip
        return build_frame(
            [
                {"run": names[row.run], "baseline": self.comparison.baseline.name}
                | {column: getattr(row, column) for column in columns}
                for row in self.comparison.differences
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The verdicts, the league and the recommendation as plain JSON."""
        plain = self.comparison.to_dict()
        if self.league is not None:
            plain["league"] = self.league.to_dict()
            advice = self.recommendation
            plain["recommendation"] = None if advice is None else asdict(advice)
        if self.preferences is not None:
            plain["preferences"] = self.preferences.to_dict()
        return plain

    def __repr__(self) -> str:
        names = ", ".join(run.info.name for run in self.runs.values())
        return f"<ComparisonResult: {names}>"


def compare(
    runs: Sequence[Run | ComparableRun | str],
    *,
    store: str | Path | Store | None = None,
    margin: float = MARGIN,
    league: bool | None = None,
    **options: Any,
) -> ComparisonResult:
    """Compare runs (or their names in the store) with the first; takes the options of `ragstone.analysis.compare`.

    More than two runs on the same questions get a league, and a recommendation when a primary metric is named;
    `league` says so for any number of them."""
    opened = [_open_run(run, store) for run in runs]
    comparison = compare_columns(opened, margin=margin, **options)
    by_id = {run.info.id: run for run in opened}
    with_league = len(opened) > 2 if league is None else league
    if not with_league or not comparison.paired:
        return ComparisonResult(comparison, by_id)
    table = build_league(opened, comparison.primary)
    return ComparisonResult(comparison, by_id, table, recommend(table, comparison, margin))


def build_league_frame(league: League) -> Any:
    """One row a configuration: each metric's mean, the ends of its interval, and whether it is the best or may be."""
    rows = []
    for run, name in league.names.items():
        row: dict[str, Any] = {"configuration": name}
        for column in league.columns:
            cell = column.cells[run]
            standing = "best" if cell.best else "tied" if cell.tied else "behind"
            row |= {
                column.metric: cell.mean,
                f"{column.metric} low": cell.low,
                f"{column.metric} high": cell.high,
                f"{column.metric} standing": standing,
            }
        rows.append(row)
    return build_frame(rows)


def _open_run(run: Run | ComparableRun | str, store: str | Path | Store | None) -> ComparableRun:
    if isinstance(run, str):
        return Run.open(run, store=store).stored
    return run.stored if isinstance(run, Run) else run


def build_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Build a pandas frame of rows."""
    try:
        import pandas
    except ImportError:
        raise RagstoneError("to_frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows)
