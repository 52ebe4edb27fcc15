"""Calibration of a judge by labels of one's own data: fitted from a labelled run, kept in the store, put into later plans.

The plan that is stored, resumed and sent to workers holds the numbers, so that a later fit changes no run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ragstone.config import Plan
from ragstone.errors import RagstoneError
from ragstone.judges import Judge
from ragstone.judges.calibration import Calibration, LabelledClaim, fit_calibration
from ragstone.store import Store, StoredRun, load_calibration, save_calibration


def fit_judge(run: StoredRun) -> Calibration | None:
    """Fit the judge of a run to the labels of its claims, else of its answers, and keep the result; None where its own probabilities
    are as good, and then an earlier fit is forgotten.

    Of an answer that was labelled as a whole the least likely claim stands for it."""
    identity = run.info.facts.judge_identity
    if identity is None:
        raise RagstoneError(f"the run {run.info.name!r} has no judge; score it with one first")
    if run.info.facts.calibration:
        raise RagstoneError(
            f"the run {run.info.name!r} was scored with fitted probabilities; fit from a run that was "
            "scored with --no-calibration"
        )
    fitted = fit_calibration(list_labelled_claims(run), f"{datetime.now(UTC):%Y-%m-%d}")
    save_calibration(run.store, identity, None if fitted is None else fitted.to_json())
    return fitted


def list_labelled_claims(run: StoredRun) -> list[LabelledClaim]:
    """What the judge and people said of the same claims of a run."""
    # here and below, since most runs have neither labels nor a fit
    from ragstone.labels import load_run_labels, resolve_labels
    from ragstone.labels.units import list_units

    labels = resolve_labels(load_run_labels(run))
    claims: list[LabelledClaim] = []
    for target in ("claim", "support"):
        given = {
            (label.sample, label.item): label.value
            for label in labels
            if label.target == target and label.value is not None
        }
        found = [
            LabelledClaim(
                (unit.weakest if target == "support" else unit.prediction)
                if unit.has_probability or unit.weakest is not None
                else None,
                unit.decision >= 0.5,
                float(given[unit.key]),
                unit.group,
            )
            for unit in list_units(run, target)
            if unit.key in given
        ]
        if len(found) > len(claims):
            claims = found
    return claims


def calibrate_judge(plan: Plan, judge: Judge, store: Store) -> Plan:
    """Give a judge that was built from the plan the fit that the store has for it, and return the plan with it.

    A plan that says `calibration: false`, or that holds a fit already, is left as it is."""
    spec = plan.judge if plan.judge is not None else "offline"
    settings = {"model": spec} if isinstance(spec, str) else dict(spec)
    if "calibration" in settings:
        return plan
    from ragstone.judges.scale import fingerprint_judge

    stored = load_calibration(store, fingerprint_judge(judge))
    if stored is None:
        return plan
    judge.calibration = Calibration.from_json(stored)  # type: ignore[attr-defined]
    return replace(plan, judge={**settings, "calibration": stored})
