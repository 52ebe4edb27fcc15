"""What is wrong with a run, found in Python: failures by class, their likely causes, what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.diagnose import Diagnosis, diagnose
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.display import Displayed
from ragstone.store import StoredRun

if TYPE_CHECKING:
    from ragstone.experiments.run import Run


@dataclass(frozen=True, slots=True, repr=False)
class DiagnosisResult(Displayed):
    """The symptoms of a run, the one that explains most failures first; prints and displays as `ragstone diagnose` does."""

    diagnoses: tuple[Diagnosis, ...] | None
    """None where only the classes of failures are wanted."""
    failures: Failures
    run: StoredRun
    language: str = "en"

    def to_dict(self) -> dict[str, Any]:
        """Classes, slices and examples, and the diagnosis, as plain JSON."""
        plain = self.failures.to_dict()
        if self.diagnoses is not None:
            plain["diagnosis"] = [diagnosis.to_dict() for diagnosis in self.diagnoses]
        return plain

    def __repr__(self) -> str:
        symptoms = (
            ", ".join(diagnosis.symptom for diagnosis in self.diagnoses or ()) or "no symptom"
        )
        return f"<DiagnosisResult of {self.run.id}: {symptoms}>"


def diagnose_run(
    run: Run, thresholds: Mapping[str, float] | None = None, language: str | None = None
) -> DiagnosisResult:
    """Classify the failures of a run and find their likely causes."""
    failures = analyse_failures(run.stored, thresholds=dict(thresholds or {}))
    diagnoses = tuple(diagnose(run.stored, run.summary(), failures, load_symptoms([])))
    report_language = language or run.info.plan.language or "en"
    return DiagnosisResult(diagnoses, failures, run.stored, report_language)
