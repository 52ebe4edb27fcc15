"""A run with everything a report can meet: findings, failures, categories, gates, costs, missing fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragstone.analysis import Summary, summarise
from ragstone.config import Plan
from ragstone.data import read
from ragstone.store import NewRow, RunInfo, Store, StoredRun
from ragstone.types import Finding, Score, Usage

Case = tuple[dict[str, Any], dict[str, Score]]
Builder = Callable[..., StoredRun]

METRICS: tuple[dict[str, Any], ...] = (
    {"name": "recall@5", "meaning": "Relevant documents in the top k ÷ all relevant ones."},
    {"name": "token_f1", "meaning": "F1 of the two bags of tokens."},
    {"name": "faithfulness", "judged": True, "meaning": "Share of the answer's claims that the contexts support."},
    {"name": "hallucination_rate", "judged": True, "higher_is_better": False, "meaning": "Claims contradicted or not found ÷ claims."},
    {"name": "abstention_accuracy", "binary": True, "labels": ["correct_refusal", "missed_refusal", "false_refusal", "answered"], "meaning": "Share of the unanswerable questions on which the system abstained."},
    {"name": "latency", "bounds": None, "higher_is_better": False, "meaning": "Seconds the system took."},
)  # fmt: skip


def described() -> tuple[dict[str, Any], ...]:
    """The metrics as a store keeps them."""
    plain = {
        "higher_is_better": True,
        "bounds": [0.0, 1.0],
        "binary": False,
        "judged": False,
        "labels": [],
    }
    return tuple(
        {**plain, "family": str(metric["name"]).split("@")[0], **metric} for metric in METRICS
    )


TOPICS = (
    ("Where was Albert Einstein born, and when?", "Einstein was born in Germany. He was born on 20 March 1879.",
     "Albert Einstein was born in Ulm, Germany, on 14 March 1879.", "born in Ulm, in the Kingdom of Württemberg in the German Empire"),
    ("What is the boiling point of water at sea level?", "Water boils at 100 °C at sea level.",
     "100 degrees Celsius.", "At standard atmospheric pressure water boils at 100 °C"),
    ("¿Cuándo terminó la guerra de los Treinta Años?", "La guerra terminó en 1648 con la Paz de Westfalia.",
     "En 1648.", "La Paz de Westfalia puso fin en 1648 a la guerra de los Treinta Años"),
    ("Who wrote the novel that the film is based on, and does the document say how well it sold in its first year?",
     "It is not mentioned in the document.", "It is not mentioned in the document.", ""),
)  # fmt: skip

FILLER = (
    "The archive was reorganised in the spring, and the catalogue now lists every holding with its shelf mark, "
    "its provenance and a short description written by the staff. "
)


def case(number: int) -> tuple[dict[str, Any], dict[str, Score]]:
    """Input row and scores of one sample; what it is like depends on its number."""
    question, answer, reference, quote = TOPICS[number % len(TOPICS)]
    share = (number * 37 % 101) / 100
    text = f"{FILLER}{quote}, as the sources agree. {FILLER}" if quote else FILLER * 2
    row: dict[str, Any] = {
        "id": f"q{number:03d}",
        "question": question,
        "answer": answer,
        "contexts": [
            {"id": f"d{number}-{rank}", "text": text if rank == 2 else FILLER * (1 + rank % 3)}
            for rank in range(1, 5)
        ],
        "reference": reference,
        "relevant": {f"d{number}-2": 2, f"d{number}-9": 1},
    }
    findings = claims(answer, f"d{number}-2", text, quote)
    usage = Usage(calls=2, input_tokens=1_240, output_tokens=180, usd=0.0011)
    scores = {
        "recall@5": Score(share) if number % 9 else Score(outcome="not_applicable", reason="no document is relevant"),
        "token_f1": Score(round(share**0.5, 4)),
        "faithfulness": judged(number, share, findings, usage),
        "hallucination_rate": judged(number, 1 - share, findings, usage),
        "abstention_accuracy": refusal(number),
        "latency": Score(0.4 + share * 3),
    }  # fmt: skip
    return row, scores


def claims(answer: str, chunk: str, text: str, quote: str) -> tuple[Finding, ...]:
    """One finding a sentence of the answer: the first supported by the quote, the others not."""
    found, at = [], 0
    for number, sentence in enumerate(answer.replace(". ", ".|").split("|")):
        span = (at, at + len(sentence))
        at += len(sentence) + 1
        if number == 0 and quote:
            start = text.index(quote)
            found.append(
                Finding(
                    sentence, "supported", "", chunk, quote, start, start + len(quote), True, span
                )
            )
        else:
            found.append(Finding(sentence, "not_found", "no chunk gives this", span=span))
    return tuple(found)


def judged(number: int, value: float, findings: tuple[Finding, ...], usage: Usage) -> Score:
    """A judged score that fails now and then."""
    if number % 11 == 3:
        reason = "the judge did not answer within 60 s"
        return Score(outcome="judge_error", kind="transport", reason=reason, usage=usage)
    if number % 17 == 5:
        return Score(outcome="not_applicable", reason="the answer makes no claim")
    warnings = ("two of three judges disagreed",) if number % 19 == 1 else ()
    return Score(round(value, 4), findings=findings, usage=usage, warnings=warnings)


def refusal(number: int) -> Score:
    """Abstention with its four categories."""
    if number % 4 == 3:
        right = number % 12 != 3
        return Score(float(right), label="correct_refusal" if right else "missed_refusal")
    label = "false_refusal" if number % 20 == 6 else "answered"
    return Score(outcome="not_applicable", reason="the question can be answered", label=label)


GATES = {"recall@5": ">= 0.3", "token_f1": "mean >= 0.9", "faithfulness": ">= 0.2"}


@contextmanager
def open_builder(folder: Path) -> Iterator[Builder]:
    store = Store.open(folder / "runs.db")
    made = 0

    def make(
        cases: list[Case],
        *,
        metrics: tuple[dict[str, Any], ...] | None = None,
        name: str = "baseline",
        source: str = "questions.jsonl",
        judge: str | None = "openai:small",
        bad: tuple[str, ...] = (),
    ) -> StoredRun:
        nonlocal made
        made += 1
        reading = read([row for row, _ in cases])
        info = RunInfo(
            id=f"run{made}", name=name, created="2026-11-15T21:40:03+00:00", status="running",
            plan=Plan(), shape=reading.shape, source=source, format=reading.format,
            metrics=metrics if metrics is not None else described(), judge=judge,
        )  # fmt: skip
        run = store.create(info)
        rows = [
            NewRow(at, record.sample.id, record.sample.group, json.dumps(row, ensure_ascii=False), scores)
            for at, (record, (row, scores)) in enumerate(zip(reading, cases, strict=True), 1)
        ]  # fmt: skip
        store.append(run.id, rows).result()
        store.finish(run.id, total=len(rows), bad_count=len(bad), bad=bad)
        return store.run(run.id)

    yield make
    store.close()


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Builder]:
    """Makes a stored run of cases, as an evaluation would have left it."""
    with open_builder(tmp_path) as make:
        yield make


@pytest.fixture(scope="module")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    """The same for runs that all tests of a file only read."""
    with open_builder(tmp_path_factory.mktemp("runs")) as make:
        yield make


@pytest.fixture
def run(build: Builder) -> StoredRun:
    """A hundred and twenty samples of every sort."""
    return build([case(number) for number in range(1, 121)], bad=("questions.jsonl:17: not JSON",))


@pytest.fixture
def summary(run: StoredRun) -> Summary:
    """What they add up to, with a gate that holds, one that is missed and one on an incomplete metric."""
    return summarise(run, gates=GATES)


@pytest.fixture(scope="session")
def a_case() -> Callable[[int], Case]:
    """Makes the row and scores of one sample, to be changed."""
    return case
