"""The checker: scores a sample or a data set in a test and fails with claims and evidence.

The rest of ragstone is imported when a check is made: a test run without checks pays nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.experiments.run import Run
    from ragstone.report.translator import Translator
    from ragstone.store import Store, StoredRow
    from ragstone.types import Score

LOCK_SECONDS = 3600.0
"""How long a check waits for another process that asks the same."""
TEXT_CHARS = 300
"""Characters of question and answer in the message of a failed check."""
SHOWN_FINDINGS = 5
"""Findings in the message of a failed check."""


class CheckFailed(AssertionError):
    """A sample or data set missed what a test asked of it; the message shows claims, verdicts and quotes."""


class Checker:
    """Checks samples with one judge and one cache of its replies; processes that name the same cache share it."""

    def __init__(
        self, *, judge: Any = None, cache: str | Path | None = None, language: str = "en"
    ) -> None:
        self.records: list[dict[str, Any]] = []
        """Every rule that was checked, in plain data."""
        self.test = ""
        """The test that the next checks belong to."""
        self._language = language
        self._judge_spec = judge
        self._judge: Any = None
        self._folder = None if cache is None else Path(cache)
        self._opened: Store | None = None

    def check(
        self,
        sample: Any,
        rules: Mapping[str, str] | None = None,
        /,
        *,
        system: Any = None,
        **more: str,
    ) -> dict[str, Score]:
        """Score one sample and raise CheckFailed unless every metric meets its rule: `faithfulness=">= 0.8"`.

        A metric that is no Python name goes into a mapping: `{"recall@5": ">= 0.8"}`. A metric without a score fails. With a `system`, its answer to the sample's question is scored."""
        __tracebackhide__ = True  # pytest then shows the line of the test, not this function
        gates = _parse_rules(rules, more)
        with self._evaluate([sample], list(gates), system=system) as run:
            (row,) = run.rows()
            faults = [
                fault
                for name, gate in gates.items()
                for fault in self._check_value(row, name, gate)
            ]
            if faults:
                raise CheckFailed("\n".join([*faults, *self._quote_sample(row)]))
            return dict(row.scores)

    def check_all(
        self,
        samples: Any,
        rules: Mapping[str, str] | None = None,
        /,
        *,
        system: Any = None,
        **more: str,
    ) -> Summary:
        """Score a file or samples and raise CheckFailed unless every gate holds.

        `>= 0.8` asks for the cautious end of the 95 % interval, `mean >= 0.8` for the mean alone."""
        __tracebackhide__ = True
        gates = _parse_rules(rules, more)
        written = {name: str(gate) for name, gate in gates.items()}
        with self._evaluate(samples, list(gates), gates=written, system=system) as run:
            summary, t = run.summary(), self._load_words()
            faults: list[str] = []
            for result in summary.gates:
                lines = [] if result.passed else self._describe_gate(run, result.metric, t)
                sentence = t.message(result.sentence)
                value = summary[result.metric].mean
                self._record("*", result.metric, result.rule, value, bool(result.passed), [sentence, *lines])  # fmt: skip
                if not result.passed:
                    faults += [sentence, *lines]
            if faults:
                raise CheckFailed("\n".join(faults))
            return summary

    def close(self) -> None:
        """Close the judge and the cache."""
        if self._judge is not None:
            from ragstone.engine.sync import run_sync

            run_sync(self._judge.close)
            self._judge = None
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @contextmanager
    def _evaluate(self, samples: Any, metrics: Sequence[str], **options: Any) -> Iterator[Run]:
        """A run that is deleted afterwards: only the judge's replies are kept, in the cache."""
        from ragstone.experiments.run import evaluate

        with self._lock(samples):
            run = evaluate(
                samples, metrics, judge=self._make_judge(), store=self._open_store(), **options
            )
        try:
            yield run
        finally:
            run.delete()

    def _make_judge(self) -> Any:
        from ragstone.judges.factory import make_judge

        if self._judge is None:
            self._judge = make_judge(self._judge_spec or "offline")
        return self._judge

    def _open_store(self) -> Store:
        from ragstone.store import Store

        if self._opened is None:
            folder = self._folder
            self._opened = Store.open(":memory:" if folder is None else folder / "replies.db")
        return self._opened

    @contextmanager
    def _lock(self, samples: Any) -> Iterator[None]:
        """Let no other process ask a judge about the same samples meanwhile: it would pay for the same replies.

        The lock is a transaction of SQLite, which ends with the process, however that ends."""
        if self._folder is None:
            yield
            return
        import hashlib
        import sqlite3

        folder = self._folder / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        # 256 lock files at most: other samples may share one, and then only wait longer
        name = hashlib.sha256(repr(samples).encode()).hexdigest()[:2]
        connection = sqlite3.connect(folder / f"{name}.db", timeout=LOCK_SECONDS)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            yield
        finally:
            connection.close()

    def _load_words(self) -> Translator:
        from ragstone.report.translator import load_translator

        return load_translator(self._language)

    def _check_value(self, row: StoredRow, name: str, gate: Any) -> list[str]:
        """The lines that say what is wrong with a score; none when it meets the rule."""
        t, score, rule = self._load_words(), row.scores[name], f"{gate.sign} {gate.limit:g}"
        if score.value is None:
            outcome, reason = t.outcome(score.outcome), t.message(score.reason)
            lines = [t("check_unscored", metric=name, outcome=outcome, reason=reason)]
        elif gate.is_met_by(score.value):
            lines = []
        else:
            value = t.number(score.value)
            lines = [
                t("check_missed", metric=name, value=value, rule=rule),
                *_describe_findings(row, name, t),
            ]
        self._record(row.id, name, rule, score.value, not lines, lines)
        return lines

    def _quote_sample(self, row: StoredRow) -> list[str]:
        from ragstone.report.remarks import shorten

        t, sample = self._load_words(), row.sample
        texts = {"check_question": sample.question, "check_answer": sample.answer}
        return [t(key, text=shorten(text, TEXT_CHARS)) for key, text in texts.items() if text]

    def _describe_gate(self, run: Run, name: str, t: Translator) -> list[str]:
        """The worst claims of a metric that missed its gate."""
        from ragstone.analysis.classes import CLAIM_FAULTS
        from ragstone.analysis.headline import collect_claims
        from ragstone.report.pages.run import describe_evidence

        faults = CLAIM_FAULTS.get(name.partition("(")[0])
        if faults is None:
            return []
        _, claims = collect_claims(run.stored.scores(), name, faults)
        lines = [f"  {t('check_worst')}"] if claims else []
        for claim in claims:
            if claim.finding is not None:
                evidence = describe_evidence(
                    claim.finding, run.stored.row(claim.position).sample, t
                )
                lines += [f"  {claim.id}  {t('quoted', text=claim.finding.text)}"]
                lines += [f"    {line}" for line in evidence]
        return lines

    def _record(
        self,
        sample: str,
        metric: str,
        rule: str,
        value: float | None,
        passed: bool,
        lines: Sequence[str],
    ) -> None:
        self.records.append(
            {
                "test": self.test,
                "sample": sample,
                "metric": metric,
                "rule": rule,
                "value": value,
                "passed": passed,
                "lines": [str(line) for line in lines],
            }
        )


def _parse_rules(rules: Mapping[str, str] | None, more: Mapping[str, str]) -> dict[str, Any]:
    """Name of the resolved metric → gate. `rules` and `more` (the keywords of a check) mean the same."""
    from ragstone.config.gates import parse_gate
    from ragstone.metrics import resolve

    named = {**(rules or {}), **more}
    if not named:
        raise ValueError(
            'nothing to check; name a metric and its rule, as in faithfulness=">= 0.8"'
        )
    return {resolve(name).name: parse_gate(rule) for name, rule in named.items()}


def _describe_findings(row: StoredRow, metric: str, t: Translator) -> Iterator[str]:
    """What counts against the sample, each with the text that decides it."""
    from ragstone.report.ledger import choose_severity
    from ragstone.report.pages.run import describe_evidence

    faults = [
        f for f in row.scores[metric].findings if choose_severity(f.verdict) in ("bad", "warn")
    ]
    for finding in faults[:SHOWN_FINDINGS]:
        yield f"  {t('quoted', text=finding.text)}"
        for line in describe_evidence(finding, row.sample, t):
            yield f"    {line}"
