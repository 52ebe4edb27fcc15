"""What is wrong with a run, found in Python: failures by class, their likely causes, what to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.diagnose import Diagnosis, diagnose
from ragstone.analysis.failures import Failures, analyse_failures
from ragstone.store import StoredRun

if TYPE_CHECKING:
    from ragstone.experiments.run import Run


@dataclass(frozen=True, slots=True, repr=False)
class DiagnosisResult:
    """The symptoms of a run, the one that explains most failures first; prints and displays as `ragstone diagnose` does."""

    diagnoses: tuple[Diagnosis, ...]
    failures: Failures
    run: StoredRun
    language: str = "en"

    def write(self, path: str | Path) -> Path:
        """Write the report; the extension says which (.html .md .json .svg .png)."""
        from ragstone.report.builders.failures import FailureReport
        from ragstone.report.formats import write_report

        write_report(FailureReport(self.failures, self.diagnoses, self.run, self.language), path)
        return Path(path)

    def __repr__(self) -> str:
        symptoms = ", ".join(diagnosis.symptom for diagnosis in self.diagnoses) or "no symptom"
        return f"<DiagnosisResult of {self.run.id}: {symptoms}>"

    def __str__(self) -> str:
        from ragstone.report.builders.diagnosis import build_story
        from ragstone.report.render import terminal

        return terminal.render(build_story(self.diagnoses, self.failures, self.language))

    def _repr_html_(self) -> str:
        from ragstone.report.builders.diagnosis import build_diagnosis
        from ragstone.report.render import notebook
        from ragstone.report.translator import load_translator

        section = build_diagnosis(self.diagnoses, self.failures, load_translator(self.language))
        return notebook.render_nodes([section], self.language)


def diagnose_run(
    run: Run, thresholds: Mapping[str, float] | None = None, language: str | None = None
) -> DiagnosisResult:
    """Classify the failures of a run and find their likely causes."""
    failures = analyse_failures(run.stored, thresholds=dict(thresholds or {}))
    diagnoses = diagnose(run.stored, run.summary(), failures, load_symptoms([]))
    report_language = language or run.info.plan.language or "en"
    return DiagnosisResult(diagnoses, failures, run.stored, report_language)
