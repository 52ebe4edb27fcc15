"""Does the corpus answer a question that a test set says has no answer? Fits and measures testset/answerability.py.

    python -m bench.testset_answers [--show 20]
    python -m bench.testset_answers --model qwen.gguf [--each 60] [--minutes 60]

Questions that a corpus answers: hand-made ones of the bundled corpus, xquad and CLAP NQ. Controls that it
does not answer, each near to what it has: `written` (hand-made), `removed` (the document that
answers is taken away, its neighbours stay; not where one of them holds the words of the answer), `swapped` (a name or year
replaced by another of the corpus that the document lacks), `attribute` (asks of a name what nobody tells), `labelled` (CLAP
NQ: people found no answer in the page). Each corpus is measured with weights fitted on the others, beside the share of the
question's words in its best passage, and beside the bars of the package. With --model a small model reads the best passages
of a sample, as `testset check --judge` does, beside the figures alone and its bare yes or no. xquad and CLAP NQ must lie beside the checkout."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.real_models import serve
from bench.testsets import Held, xquad
from ragstone.asks import Reply, check_passage
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.engine import AskBroker
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.store import Store
from ragstone.testset.answerability import (
    HINT_CHANCE,
    JUDGED_CHANCE,
    JUDGED_WEIGHTS,
    SEARCHED_DOCUMENTS,
    SURE_CHANCE,
    WEIGHTS,
    PassageFigures,
    compute_chance,
    cut_passage,
    measure_passages,
    to_log_odds,
)
from ragstone.testset.baselines import Search
from ragstone.text.terms import extract_terms

MOST = 150
"""Questions of one shape in a corpus."""
SEED = "answers 1"
READ_BY_MODEL = 1
"""Passages of a question; with 2 the model found no more (66 instead of 70 % at 5 % alarms)."""
NEVER = -99.0
"""Score of a question that a judge is not asked."""
ALARM_RATES = (0.01, 0.02, 0.05, 0.10, 0.20)
HELD_SHARE = 0.8
"""Share of an answer's words from which another document may answer too."""
_NAME = re.compile(
    r"(?<=[a-zñáéíóú,] )[A-ZÁÉÍÓÚÑ][\w'’-]{2,}(?: [A-ZÁÉÍÓÚÑ][\w'’-]+){0,2}|\b\d{3,4}\b"
)
_JOINED = re.compile(r"(?:and|of|y|de|del|&)\s*$")
ATTRIBUTES = {
    "en": (
        "How many parking spaces does {} have?", "Who is the current insurer of {}?", "What is the email address of {}?",
        "In which year was the roof of {} replaced?", "How much did the last audit of {} cost?", "Which lawyer represented {} in 1987?",
        "How many employees of {} speak Portuguese?", "What colour is the front door of {}?",
    ),
    "es": (
        "¿Cuántas plazas de aparcamiento tiene {}?", "¿Qué aseguradora cubre a {}?", "¿Cuál es el correo electrónico de {}?",
        "¿En qué año se renovó el tejado de {}?", "¿Cuánto costó la última auditoría de {}?", "¿Qué abogado representó a {} en 1987?",
        "¿Cuántos empleados de {} hablan portugués?", "¿De qué color es la puerta principal de {}?",
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """A question, and whether its corpus answers it."""

    corpus: str
    language: str
    shape: str
    question: str
    answered: bool
    home: str = ""
    """The document that answers, or that the question was made from."""
    answer: str = ""
    found: list[PassageFigures] = field(default_factory=list)
    read: list[tuple[PassageFigures, float]] = field(default_factory=list)
    """Passages that a model has read, with its probability that they answer."""


def list_names(text: str) -> list[str]:
    """Names and years of a text, without those that are part of a longer name."""
    return [m[0] for m in _NAME.finditer(text) if not _JOINED.search(text[: m.start()])]


def swap_names(cases: Sequence[Case], documents: Held, rng: random.Random) -> Iterator[Case]:
    """The questions with a name replaced by one of a kindred document, where there is one, that their own lacks."""
    everywhere = sorted({name for one in documents for name in list_names(one.text)})
    for case in cases:
        own = documents.find(case.home).text
        kin = [one for one in documents if one.id.split("-")[0] == case.home.split("-")[0]]
        near = sorted({name for one in kin for name in list_names(one.text)})
        mine = list_names(case.question)
        if not mine:
            continue
        was = rng.choice(mine)
        alike = [
            name
            for name in (near if len(kin) > 1 and " " not in case.corpus else everywhere) or everywhere
            if name.isdigit() == was.isdigit() and len(name.split()) == len(was.split())
            and not set(name.split()) & set(own.split())
        ]  # fmt: skip
        if alike:
            question = case.question.replace(was, rng.choice(alike))
            yield replace(case, shape="swapped", question=question, answered=False)


def ask_attributes(
    corpus: str, language: str, documents: Iterable[Document], rng: random.Random
) -> list[Case]:
    """Questions that no document answers, of names that it has."""
    names = sorted({n for one in documents for n in list_names(one.text) if not n.isdigit()})
    rng.shuffle(names)
    return [
        Case(corpus, language, "attribute", rng.choice(ATTRIBUTES[language]).format(name), False)
        for name in names[: MOST // 3]
    ]


def derive(asked: Sequence[Case], documents: Held, rng: random.Random) -> Iterator[Case]:
    """The questions themselves, and controls made of others of them."""
    cases = list(asked)
    rng.shuffle(cases)
    part = max(len(cases) // 3, 1)
    yield from cases[:MOST]
    yield from (replace(case, shape="removed", answered=False) for case in cases[-part:][:MOST])
    yield from list(swap_names(cases[-2 * part :], documents, rng))[: MOST // 2]


def read_bundled(language: str) -> tuple[Held, list[Case]]:
    rows = [json.loads(line) for line in corpora.documents().read_text("utf-8").splitlines()]
    documents = Held(
        Document(row["id"], row["text"], row["title"], language)
        for row in rows
        if row["language"] == language
    )
    name, rng = f"bundled {language}", random.Random(language)
    asked, cases = [], []
    for line in corpora.questions().read_text("utf-8").splitlines():
        row = json.loads(line)
        homes = [key for key, grade in (row.get("relevant") or {}).items() if grade > 0]
        if row["language"] != language or (row.get("meta") or {}).get("history"):
            continue
        case = Case(name, language, "asked", row["question"], True, *homes[:1], answer=row["reference"])  # fmt: skip
        if not homes:
            cases.append(replace(case, shape="written", answered=False))
        elif len(row["relevant"]) == 1 and homes[0] in documents._known:
            asked.append(case)
    cases += [*derive(asked, documents, rng), *ask_attributes(name, language, documents, rng)]
    return documents, cases


def read_rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(xquad() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_xquad(language: str) -> tuple[Held, list[Case]]:
    rows, name, rng = read_rows(f"xquad_{language}"), f"xquad {language}", random.Random(language)
    documents = Held(Document(row["doc_id"], row["text"], "", language) for row in rows)
    asked = [
        Case(name, language, "asked", one["question"], True, row["doc_id"], one["answer"])
        for row in rows
        for one in row["questions"]
    ]
    return documents, [*derive(asked, documents, rng), *ask_attributes(name, language, documents, rng)]  # fmt: skip


def read_clapnq() -> tuple[Held, list[Case]]:
    rows, rng = read_rows("clapnq_dev"), random.Random(1)
    documents = Held(Document(row["id"], row["passage"], row["title"], "en") for row in rows)
    asked = [
        Case("clapnq", "en", "asked", row["question"], True, row["id"], row["answer"])
        for row in rows
        if row["answerable"]
    ]
    labelled = [
        Case("clapnq", "en", "labelled", row["question"], False)
        for row in rows
        if not row["answerable"]
    ]
    return documents, [*derive(asked, documents, rng), *labelled[:MOST], *ask_attributes("clapnq", "en", documents, rng)]  # fmt: skip


def measure(documents: Held, cases: Iterable[Case]) -> Iterator[Case]:
    """The cases with the figures of their passages."""
    with Search(documents) as search:
        for case in cases:
            near = search.find_nearest(case.question, case.language, SEARCHED_DOCUMENTS + 1)
            if case.shape == "removed":
                near = [one for one in near if one.document != case.home]
                wanted = set(extract_terms(case.answer, case.language))
                if any(_measure_held(wanted, one.titled_text, case.language) >= HELD_SHARE for one in near):  # fmt: skip
                    continue
            near = near[:SEARCHED_DOCUMENTS]
            found = measure_passages(case.question, case.language, near, search)
            yield replace(case, found=found)


def _measure_held(wanted: set[str], text: str, language: str) -> float:
    return len(wanted.intersection(extract_terms(text, language))) / max(len(wanted), 1)


def choose_read(case: Case) -> list[PassageFigures]:
    """The likeliest passages that a model reads, where they are worth it."""
    likely = sorted(case.found, key=compute_chance, reverse=True)[:READ_BY_MODEL]
    return [one for one in likely if compute_chance(one) >= JUDGED_CHANCE]


def sample_cases(cases: Sequence[Case], each: int) -> list[Case]:
    """So many answered questions and controls of each corpus, in turn, so that every beginning is balanced."""
    groups: dict[tuple[str, bool], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.corpus, case.answered), []).append(case)
    for group in groups.values():
        random.Random(SEED).shuffle(group)
    return [group[n] for n in range(each) for group in groups.values() if n < len(group)]


async def ask_model(cases: Sequence[Case], judge: Judge, store: Path, until: float) -> list[Case]:
    """The cases that were read in time, each with the model's probability that a passage answers it."""
    read: list[Case] = []
    async with AskBroker(judge, Store.open(str(store)), "answers") as broker:
        for number, case in enumerate(cases, 1):
            shown = choose_read(case)
            asks = [check_passage(cut_passage(one.text), case.question, language=case.language) for one in shown]  # fmt: skip
            replies = await broker.answer(asks) if asks else []
            if any(not isinstance(reply, Reply) for reply in replies):
                raise SystemExit(f"the model failed: {replies}; start again to go on")
            chances = [reply.value["probability"] for reply in replies if isinstance(reply, Reply)]
            read.append(replace(case, read=list(zip(shown, chances, strict=True))))
            if number % 20 == 0:
                print(f"  read {number} of {len(cases)} questions", file=sys.stderr, flush=True)
            if time.time() > until:
                break
    await judge.close()
    return read


Row = dict[str, Any]
"""Figures of a passage by name, with `yes` where a model has read it."""


def list_rows(case: Case) -> list[Row]:
    """The figures of the passages; where a model has read some, of these, with the log-odds that they answer."""
    if case.read:
        return [one._asdict() | {"yes": to_log_odds(yes)} for one, yes in case.read]
    return [one._asdict() for one in case.found]


def fit(cases: Sequence[Case], start: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Weights of the figures; each corpus counts the same, and its answered and unanswered questions half each."""
    sizes = Counter((case.corpus, case.answered) for case in cases)
    shares = np.array([1000 / sizes[case.corpus, case.answered] for case in cases])
    labels = np.array([float(case.answered) for case in cases])
    weights = dict(start)
    names = [name for name in start if name != "bias"]
    for _ in range(2):  # the passage that counts is the best by the weights
        best = [_choose(case, weights) for case in cases]
        rows = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in best])
        weights = dict(zip(("bias", *names), _fit_logistic(rows, labels, shares), strict=True))
    return weights


def _fit_logistic(rows: Any, labels: Any, shares: Any, ridge: float = 1e-3) -> list[float]:
    coefficients = np.zeros(rows.shape[1])
    penalty = np.eye(rows.shape[1]) * ridge * shares.sum()
    penalty[0, 0] = 0
    for _ in range(60):
        chances = 1 / (1 + np.exp(-rows @ coefficients))
        gradient = rows.T @ (shares * (chances - labels)) + penalty @ coefficients
        curvature = (rows.T * (shares * chances * (1 - chances))) @ rows + penalty
        coefficients = coefficients - np.linalg.solve(curvature, gradient)
    return [float(value) for value in coefficients]


def _choose(case: Case, weights: Mapping[str, float]) -> Row:
    """The best passage by these weights; empty when none was found."""
    return max(list_rows(case), key=lambda row: _weigh(row, weights), default={})


def _weigh(row: Row, weights: Mapping[str, float]) -> float:
    return sum(weight * row.get(name, 0.0) for name, weight in weights.items() if name != "bias")


def score(case: Case, weights: Mapping[str, float]) -> float:
    """The logit of the best passage."""
    return weights["bias"] + _weigh(_choose(case, weights), weights)


def find_rate(answered: Any, scores: Any, alarms: float) -> float:
    """Share found where so many of the controls are alarms."""
    controls = np.sort(scores[~answered])[::-1]
    return float((scores[answered] > controls[int(alarms * len(controls))]).mean())


def show_curve(title: str, cases: Sequence[Case], scores: Sequence[float]) -> None:
    answered = np.array([case.answered for case in cases])
    rates = [find_rate(answered, np.array(scores), alarms) for alarms in ALARM_RATES]
    print(f"  {title:34}" + "".join(f"{rate:8.0%}" for rate in rates))


def show_bars(cases: Sequence[Case], weights: Mapping[str, float]) -> None:
    """What the two bars find, and the alarms by shape."""
    for title, bar in (("finding", SURE_CHANCE), ("hint or finding", HINT_CHANCE)):
        shapes: dict[tuple[bool, str], list[bool]] = {}
        for case in cases:
            hit = score(case, weights) >= np.log(bar / (1 - bar))
            shapes.setdefault((case.answered, case.shape), []).append(bool(hit))
        found, alarms = (
            np.mean([hit for (told, _), hits in shapes.items() if told is answered for hit in hits])
            for answered in (True, False)
        )
        parts = ", ".join(
            f"{name} {sum(hits)} of {len(hits)}" for (_, name), hits in shapes.items()
        )
        print(f"  {title} (chance ≥ {bar}): {found:.0%} found, {alarms:.1%} alarms ({parts})")


def show_model(cases: Sequence[Case], read: Sequence[Case]) -> None:
    """What a small model adds, each corpus with weights fitted on what it read of the others."""
    scores: dict[str, list[tuple[Case, list[float]]]] = {}
    for case in read:
        kind = case.corpus.split()[0]
        alone, judged = _fit_others(tuple(cases), kind), _fit_others(tuple(read), kind)
        unread = replace(case, read=[])
        values = [
            max((one.words for one in case.found), default=0.0),
            score(unread, alone),
            max((yes for _, yes in case.read), default=-1.0),
            score(case, judged) if case.read else NEVER,
        ]
        scores.setdefault(case.corpus, []).append((case, values))
    scores["all"] = [row for rows in scores.values() for row in rows]
    titles = ("words in the best passage", "figures alone", "the model's yes alone", "figures and the model")  # fmt: skip
    for corpus, rows in scores.items():
        mine = [case for case, _ in rows]
        counts = Counter(case.shape for case in mine)
        print(f"{corpus}: {dict(counts)}, read {sum(bool(case.read) for case in mine)}")
        for at, title in enumerate(titles):
            show_curve(title, mine, [values[at] for _, values in rows])
        for at, title in ((1, titles[1]), (3, titles[3])):
            for bar in (SURE_CHANCE, HINT_CHANCE):
                logit = np.log(bar / (1 - bar))
                hits = {told: [values[at] >= logit for case, values in rows if case.answered is told] for told in (True, False)}  # fmt: skip
                print(f"  {title}, chance ≥ {bar}: {np.mean(hits[True]):.0%} of {len(hits[True])} found, {sum(hits[False])} of {len(hits[False])} controls")  # fmt: skip
    fitted = fit([case for case in read if case.read], JUDGED_WEIGHTS)
    print(
        "judged weights fitted on all:", {name: round(value, 2) for name, value in fitted.items()}
    )


@lru_cache
def _fit_others(cases: tuple[Case, ...], kind: str) -> dict[str, float]:
    """Weights fitted on the other corpora, with the model's where it has read."""
    others = [case for case in cases if not case.corpus.startswith(kind)]
    read = [case for case in others if case.read]
    return fit(read, JUDGED_WEIGHTS) if read else fit(others)


def main() -> None:
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("--show", type=int, default=0, help="print so many alarms of each corpus")
    asks.add_argument("--model", help="a GGUF file to serve: what a small model adds")
    asks.add_argument("--base-url", help="a llama.cpp server that runs already")
    asks.add_argument("--each", type=int, default=60, help="questions and controls of a corpus that it reads")  # fmt: skip
    asks.add_argument("--minutes", type=float, default=60, help="stop reading then; another start goes on")  # fmt: skip
    asks.add_argument("--store", type=Path, default=Path("answers.db"), help="its replies")
    asks.add_argument("--name", default="small", help="of the model, in the store")
    asks.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = asks.parse_args()
    read = [read_bundled("en"), read_bundled("es"), read_xquad("en"), read_xquad("es"), read_clapnq()]  # fmt: skip
    cases = [case for documents, some in read for case in measure(documents, some)]
    print("alarms on controls                  " + "".join(f"{rate:8.0%}" for rate in ALARM_RATES))
    if given.model or given.base_url:
        read_with_model(cases, given)
    else:
        show_figures(cases, given.show)


def read_with_model(cases: Sequence[Case], given: argparse.Namespace) -> None:
    """Have a model read a sample of the questions, and show what it adds."""
    sample = sample_cases(cases, given.each)
    with nullcontext(given.base_url) if given.base_url else serve(given.model, given.threads) as url:  # fmt: skip
        judge = make_judge({
            "model": "openai:small", "base_url": url, "identity": given.name, "small": True,
            "temperature": 0, "concurrency": 1, "timeout": 3600.0, "deadline": 3600.0,
        })  # fmt: skip
        until = time.time() + 60 * given.minutes
        show_model(cases, asyncio.run(ask_model(sample, judge, given.store, until)))


def show_figures(cases: Sequence[Case], shown: int) -> None:
    """What the figures alone find, corpus by corpus."""
    for corpus in dict.fromkeys(case.corpus for case in cases):
        mine = [case for case in cases if case.corpus == corpus]
        kind = corpus.split()[0]
        weights = fit([case for case in cases if not case.corpus.startswith(kind)])
        print(f"{corpus}: {dict(Counter(case.shape for case in mine))}")
        show_curve("words in the best passage", mine, [max((one.words for one in case.found), default=0.0) for case in mine])  # fmt: skip
        show_curve("fitted on the other corpora", mine, [score(case, weights) for case in mine])
        show_bars(mine, weights)
        alarms = sorted((c for c in mine if not c.answered), key=lambda c: -score(c, weights))
        for case in alarms[:shown]:
            row = _choose(case, weights)
            print(f"    {case.shape} {score(case, weights):.1f} {case.question} | {row['source']}")  # fmt: skip
    fitted = fit(cases)
    print("weights fitted on all:", {name: round(value, 2) for name, value in fitted.items()})
    chances = [max(map(compute_chance, case.found), default=0.0) for case in cases]
    for bar in (SURE_CHANCE, HINT_CHANCE):
        hit = [np.mean([c >= bar for c, case in zip(chances, cases, strict=True) if case.answered is told]) for told in (True, False)]  # fmt: skip
        print(
            f"shipped weights, all corpora, chance ≥ {bar}: {hit[0]:.0%} found, {hit[1]:.1%} alarms"
        )


if __name__ == "__main__":
    main()
