"""Runs in which the values of claim metrics mean different things: what may be compared, and the bound a gate needs now.

Version 1 counted verdicts; version 2 sums the probabilities of a judge that states them (`types.VALUE_VERSION`). For a judge that says
yes or no the two are the same. A fit of one judge to labels changes its values, too (`judges/calibration.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.analysis.columns import ComparableRun, read_columns
from ragstone.config.gates import parse_gate
from ragstone.errors import RagstoneError
from ragstone.store import RunInfo, StoredRun
from ragstone.types import CLAIM_METRICS, VALUE_VERSION


def find_changed_values(
    runs: Sequence[ComparableRun], metrics: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The metrics, of those named or of all, that mean something else in some of the runs."""
    versions = {run.info.facts.value_version for run in runs}
    is_refitted = _is_refitted(runs)
    if len(versions) == 1 and not is_refitted:
        return ()
    shared = set.intersection(*(_name_claim_metrics(run.info) for run in runs))
    if metrics is not None:
        shared &= set(metrics)
    newer = [run for run in runs if run.info.facts.value_version > min(versions)]
    is_changed = bool(shared) and (is_refitted or any(map(_states_probabilities, newer)))
    return tuple(sorted(shared)) if is_changed else ()


def _is_refitted(runs: Sequence[ComparableRun]) -> bool:
    """Whether one judge's probabilities were fitted to labels in another way, or only in some of the runs."""
    fits = [(run.info.facts.judge_identity, run.info.facts.calibration) for run in runs]
    return any(a != b and judge == other for judge, a in fits for other, b in fits)


def explain_changed_values(runs: Sequence[ComparableRun], metrics: Sequence[str]) -> RagstoneError:
    """The error that says what differs, and what to do."""
    if len({run.info.facts.value_version for run in runs}) == 1:
        return RagstoneError(
            f"the probabilities behind {', '.join(metrics)} were fitted to labels in some of these runs "
            "and not, or otherwise, in others; score them alike (`ragstone judge fit`, --no-calibration), "
            "compare other metrics with -m, or compare them as they are with --anyway "
            "(anyway=True in Python)"
        )
    old = min(runs, key=lambda run: run.info.facts.value_version).info
    return RagstoneError(
        f"{old.name!r} is from before the values of {', '.join(metrics)} became expected shares; "
        "score it again, compare other metrics with -m, or compare it as it is with --anyway "
        "(anyway=True in Python)"
    )


def _name_claim_metrics(info: RunInfo) -> set[str]:
    """The metrics of a run that count claims, and `overall`, which is made of such."""
    families = CLAIM_METRICS | {"overall"}
    return {str(m["name"]) for m in info.metrics if m.get("family", m["name"]) in families}


def _states_probabilities(run: ComparableRun) -> bool:
    """Whether a claim of the run has a probability; `overall` alone keeps no claims, so it counts as if it had."""
    names = _name_claim_metrics(run.info)
    counted = [str(m["name"]) for m in run.info.metrics if m.get("family") in CLAIM_METRICS]
    scores = getattr(run, "scores", None)
    if not counted or scores is None:
        return bool(names)
    return any(
        finding.probability is not None
        for _, _, _, by_metric in scores()
        for name in counted
        if name in by_metric
        for finding in by_metric[name].findings
    )


@dataclass(frozen=True, slots=True)
class OutdatedGate:
    """A missed gate that was set on the values of before, with the bound at the same place of today's."""

    metric: str
    rule: str
    suggested: str


def find_outdated_gates(
    run: StoredRun, missed: Sequence[tuple[str, str]]
) -> tuple[OutdatedGate, ...]:
    """Of the missed gates (metric, rule) those whose metric changed since the newest earlier run of the same data.

    The bound moves by the difference of the two means over the samples that both runs scored."""
    claims = _name_claim_metrics(run.info)
    missed = [(metric, rule) for metric, rule in missed if metric in claims]
    if not missed:
        return ()
    before = next(
        (
            info
            for info in run.store.runs()
            if info.id != run.info.id
            and info.source == run.info.source
            and info.created <= run.info.created
        ),
        None,
    )
    if before is None or before.facts.value_version == VALUE_VERSION:
        return ()
    old = read_columns(run.store.run(before.id))
    new = read_columns(run)
    outdated = []
    for metric, rule in missed:
        pairs = [
            (old.values[metric][old.places[id]], value)
            for id, value in zip(new.ids, new.values[metric], strict=True)
            if metric in old.values and id in old.places
        ]
        shifts = [float(was - now) for was, now in pairs if was == was and now == now]
        gate = parse_gate(rule)
        if not shifts or gate.figure == "coverage":
            continue
        limit = round(gate.limit - sum(shifts) / len(shifts), 3)
        if limit != gate.limit:
            outdated.append(OutdatedGate(metric, rule, str(replace(gate, limit=limit))))
    return tuple(outdated)
