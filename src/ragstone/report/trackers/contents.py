"""What trackers are given of a run: facts, figures, samples with their scores, files with the evidence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragstone._version import __version__
from ragstone.analysis.summary import Summary
from ragstone.report.files import write_text
from ragstone.report.formats import write_page
from ragstone.report.pages.run import RunPage
from ragstone.report.rows import export_rows, write_finding
from ragstone.report.translator import load_translator
from ragstone.store import StoredRow, StoredRun, format_plan
from ragstone.types import Sample, Score

MAX_TABLE_ROWS = 10_000
"""Samples in the table of a tracker; the file of samples has all of them."""
MICROSECOND_NANOSECONDS, SECOND_NANOSECONDS = 1_000, 1_000_000_000


@dataclass(frozen=True, slots=True)
class RunContents:
    """A run as trackers are given it."""

    stored: StoredRun
    summary: Summary
    language: str = "en"

    @property
    def name(self) -> str:
        """The run's name, or its id where it has none."""
        return self.stored.info.name or self.stored.id

    def collect_facts(self) -> dict[str, str]:
        """What was evaluated, and how, in short texts."""
        info = self.stored.info
        facts: Mapping[str, Any] = {
            "run": info.id, "data": info.source, "format": info.format, "judge": info.judge,
            "system": info.facts.system, "samples": info.total, "created": info.created,
            "status": info.status, "language": info.plan.language, "ragstone": __version__,
            "metrics": ", ".join(str(metric["name"]) for metric in info.metrics),
        }  # fmt: skip
        return {key: str(value) for key, value in facts.items() if value not in (None, "")}

    def collect_figures(self) -> dict[str, float]:
        """Mean, interval and counts of each metric: `recall_at_5`, `recall_at_5.low`, … `.scored`."""
        figures: dict[str, float] = {}
        for metric in self.summary.metrics:
            name = to_safe_name(metric.metric)
            values = {
                "": metric.mean, ".low": metric.low, ".high": metric.high, ".sd": metric.sd,
                ".scored": metric.scored, ".applicable": metric.applicable,
            }  # fmt: skip
            for suffix, value in values.items():
                if value is not None:
                    figures[name + suffix] = float(value)
        for gate in self.summary.gates:
            figures[f"gate.{to_safe_name(gate.metric)}"] = float(bool(gate.passed))
        return figures

    def iter_samples(self) -> Iterator[StoredRow]:
        """Every sample with its scores, in input order."""
        return self.stored.rows()

    def explain(self, score: Score) -> str:
        """The evidence of a score, a line for each finding, or why there is no score."""
        t = load_translator(self.language)
        lines = [write_finding(finding, t) for finding in score.findings]
        if score.reason:
            lines.insert(0, t.message(score.reason))
        return "\n".join(lines)

    def build_table(self) -> tuple[list[str], list[list[Any]]]:
        """Head and rows of a table of samples: texts, and score and evidence of each metric."""
        names = [str(metric["name"]) for metric in self.stored.info.metrics]
        head = ["id", "question", "answer", "reference", "contexts"]
        head += [column for name in names for column in (name, f"{name}.evidence")]
        rows: list[list[Any]] = []
        for row in self.iter_samples():
            if len(rows) == MAX_TABLE_ROWS:
                break
            sample = row.sample
            cells = [sample.id, sample.question, sample.answer, sample.reference]
            scores = [row.scores[name] for name in names]
            judged = [cell for score in scores for cell in (score.value, self.explain(score))]
            rows.append([*cells, format_contexts(sample), *judged])
        return head, rows

    def write_files(self, folder: Path) -> None:
        """Write the report, every sample with its evidence, and the plan of the run."""
        page = RunPage(load_translator(self.language), self.stored, self.summary)
        write_page(page, folder / "report.html")
        write_page(page, folder / "report.md")
        export_rows(self.stored, folder / "samples.jsonl", self.summary, explain=True)
        plan = json.dumps(format_plan(self.stored.info), ensure_ascii=False, indent=2)
        write_text(folder / "plan.json", plan + "\n")

    def make_id(self, *parts: str, length: int) -> str:
        """An id in hexadecimal that is the same whenever the run is sent again."""
        text = "\x00".join((self.stored.id, *parts))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]

    def find_times(self, row: StoredRow) -> tuple[int, int]:
        """When the answer of a sample began and ended, in nanoseconds since 1970: its latency from the start of the run on."""
        start = int(datetime.fromisoformat(self.stored.info.created).timestamp()) * SECOND_NANOSECONDS  # fmt: skip
        start += row.position * MICROSECOND_NANOSECONDS  # samples sort as in the data
        latency = row.scores["latency"].value if "latency" in row.scores else None
        return start, start + max(1, int((latency or 0.0) * SECOND_NANOSECONDS))


def format_contexts(sample: Sample) -> str:
    """The chunks of a sample as one text."""
    chunks = sample.contexts or ()
    return "\n\n".join(f"[{chunk.id}] {chunk.text or ''}".strip() for chunk in chunks)


def list_contexts(sample: Sample) -> list[dict[str, str]]:
    """The chunks of a sample as plain data."""
    return [{"id": str(chunk.id), "text": chunk.text or ""} for chunk in sample.contexts or ()]


def to_iso(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as ISO 8601, UTC."""
    return datetime.fromtimestamp(nanoseconds / SECOND_NANOSECONDS, UTC).isoformat()


def to_safe_name(metric: str) -> str:
    """The name of a metric with letters, digits, dots and underscores alone: `recall_at_5`."""
    spelled = metric.replace("@", "_at_").replace("(", ".").replace("=", "_").rstrip(")")
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in spelled)
