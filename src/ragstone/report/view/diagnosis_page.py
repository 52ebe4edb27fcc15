"""The page of a run's failures and diagnosis; classes and examples lead to the samples behind them."""

from __future__ import annotations

from functools import lru_cache

from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.diagnose import Diagnosis, diagnose
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.analysis.slices import Slice
from ragstone.errors import RagstoneError
from ragstone.report.pages.failures import FailureLinks, FailurePage
from ragstone.report.remarks import shorten
from ragstone.report.view.catalogue import RunEntry
from ragstone.report.view.frame import ViewFrame
from ragstone.report.view.run_page import READABLE_SAMPLES
from ragstone.report.view.sample_state import format_trait

SHOWN_EXAMPLES = 8


def render_diagnosis(frame: ViewFrame, entry: RunEntry) -> str:
    """The page; a run that is too large to be classified while somebody waits is left to the command line."""
    t, info = frame.t, entry.info
    if entry.count_samples() > READABLE_SAMPLES:
        raise RagstoneError(t("view.diagnose_by_command", run=info.id))
    failures, diagnoses = _analyse(_AnalysedRun(entry))
    links = FailureLinks(
        lambda position: frame.href("sample", run=info.id, at=str(position)),
        lambda kind: frame.href("run", run=info.id, is_=f"class:{kind}"),
        lambda slice: (
            frame.href("run", run=info.id, is_=trait) if (trait := _to_trait(slice)) else ""
        ),
    )
    page = FailurePage(t, failures, diagnoses, entry.run, links)
    linked = [
        (
            t.translate("failure_class", str(rate.label)),
            links.to_class(rate.label),
            t.whole(rate.count),
            [
                (shorten(failure.id, 40), links.to_sample(failure.position))
                for failure in failures.examples.get(rate.label, ())[:SHOWN_EXAMPLES]  # type: ignore[call-overload]
            ],
        )
        for rate in failures.rates
        if rate.label not in ("fine", "unclassified")
    ]
    return frame.fill(
        "view_diagnosis.html.j2",
        page=page,
        linked=linked,
        back=frame.href("run", run=info.id),
        run_name=shorten(info.name or info.id, 80),
    )


def _to_trait(slice: Slice) -> str:
    """The filter of a slice, where the list of samples has one: a language or a field of the data."""
    if not slice.is_tagged or slice.field in ("language_pair", "group"):
        return ""
    return format_trait(f"{'' if slice.field == 'language' else 'meta.'}{slice.field}", slice.value)


class _AnalysedRun:
    """A run as a key of the cache: equal when store, id, time of completion and number of samples are."""

    def __init__(self, entry: RunEntry) -> None:
        self.entry = entry
        self._key = (
            entry.run.store.place,
            entry.run.id,
            entry.notes.finished,
            entry.count_samples(),
        )

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AnalysedRun) and self._key == other._key


@lru_cache(maxsize=8)
def _analyse(analysed: _AnalysedRun) -> tuple[Failures, list[Diagnosis]]:
    entry = analysed.entry
    assert entry.summary is not None
    failures = analyse_failures(entry.run)
    return failures, list(diagnose(entry.run, entry.summary, failures, load_symptoms([])))
