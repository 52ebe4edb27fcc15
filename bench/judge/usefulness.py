"""Is a chunk useful? Fits the small models behind the grades of chunks and measures them.

    python bench/judge/usefulness.py          figures of the shipped weights
    python bench/judge/usefulness.py --fit    weights fitted on what may be learned from

Learned from corpora of our own (counties, reading, chunks.toml of the tests) and the questions of RAGTruth: gold chunks are useful,
chunks of other questions, of the same matter first, are not. MS MARCO, CLAP NQ and XQuAD are only measured, each beside
the best plain baseline: containment of the question's words, and the encoder's cosine."""

from __future__ import annotations

import csv
import json
import random
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from examples import PAIRS, contain, split_passages
from measures import auroc
from relevance import fit_logistic
from rows import load

from ragstone.judges.offline.question_kinds import split_question
from ragstone.judges.offline.reading import read
from ragstone.judges.offline.usefulness import (
    QUESTION_WEIGHTS,
    TARGET_WEIGHTS,
    judge_chunks,
    judge_towards,
    measure_chunks,
    measure_towards,
)

HOME = Path(__file__).resolve().parents[2]
LEARNED_FROM = ("counties", "reading", "cases", "across", "ragtruth")
SAME_WEIGHT = 0.5
"""Weight of negatives about the same matter: some of them help after all."""


class Row(NamedTuple):
    """A question, a chunk and whether it helps; `reference` where there is one."""

    corpus: str
    language: str
    question: str
    reference: str
    chunk: str
    kind: str
    """good, same (of the same matter) or other."""


def list_cases() -> Iterator[Row]:
    """Plain cases of our own in both languages, and with the question in the other language."""
    cases = tomllib.loads((PAIRS / "chunks.toml").read_text("utf-8"))["case"]
    for number, case in enumerate(cases):
        far = cases[(number + 7) % len(cases)]
        chunks = [("good", c) for c in case["useful"]] + [("same", c) for c in case["other"]]
        chunks += [("other", c) for c in far["useful"]]
        for index, language in enumerate(("en", "es")):
            question, reference = case["question"][index], case["reference"][index]
            for kind, texts in chunks:
                yield Row("cases", language, question, reference, texts[index], kind)
                yield Row("across", language, question, "", texts[1 - index], kind)


def list_counties() -> Iterator[Row]:
    """Sections of the demo documents: the one that holds the reference, others of the document, of other documents."""
    luck = random.Random(3)
    folder = HOME / "src/ragstone/data/corpora/counties"
    sections = {}
    for document in map(json.loads, (folder / "documents.jsonl").read_text("utf-8").splitlines()):
        sections[document["id"]] = [
            f"{document['title']}. {part.strip()}" for part in document["text"].split("##")
        ]
    languages = {name: ("en" if n < 32 else "es") for n, name in enumerate(sections)}
    for row in map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines()):
        if row["meta"]["type"] not in ("fact", "paraphrase") or not row.get("reference"):
            continue
        language, gold = row["language"], row["group"]
        holds = [contain(row["reference"], part, language) for part in sections[gold]]
        best = int(np.argmax(holds))
        if holds[best] < 0.75:
            continue
        shared = row["question"], row["reference"]
        yield Row("counties", language, *shared, sections[gold][best], "good")
        beside = [part for n, part in enumerate(sections[gold]) if n != best and holds[n] < 0.3]
        if beside:
            yield Row("counties", language, *shared, luck.choice(beside), "same")
        far = [
            name
            for name in sections
            if name.split("-")[0] != gold.split("-")[0] and languages[name] == language
        ]
        yield Row("counties", language, *shared, luck.choice(sections[luck.choice(far)]), "other")


def list_reading() -> Iterator[Row]:
    """Questions made of real manuals with the passage that they were made of."""
    luck = random.Random(4)
    for language in ("en", "es"):
        with (HOME / f"bench/testset_reading/{language}.csv").open(encoding="utf-8") as lines:
            rows = [
                row
                for row in csv.DictReader(lines)
                if row["verdict"] == "good" and not row["question"].startswith("[")
            ]
        for row in rows:
            shared = row["question"], row["reference"]
            yield Row("reading", language, *shared, row["passage"], "good")
            beside = [r for r in rows if r["source"] == row["source"] and r is not row]
            if beside:
                yield Row("reading", language, *shared, luck.choice(beside)["passage"], "same")
            far = [r for r in rows if r["source"] != row["source"]]
            yield Row("reading", language, *shared, luck.choice(far)["passage"], "other")


def list_ragtruth() -> Iterator[Row]:
    """Questions with a passage that they were answered from, and one of another question."""
    luck = random.Random(5)
    rows = {
        r["question"]: r for r in load("judge", "ragtruth_test") if r["question"] and r["label"]
    }
    chosen = [r for r in rows.values() if "passage 1" in r["context"][:40]]
    for row in chosen:
        passages = split_passages(row["context"])
        passage = max(passages, key=lambda p: contain(row["claim"], p, "en"))
        other = luck.choice([r for r in chosen if r is not row])
        yield Row("ragtruth", "en", row["question"], row["claim"], passage, "good")
        far = luck.choice(split_passages(other["context"]))
        yield Row("ragtruth", "en", row["question"], row["claim"], far, "other")


def list_measured() -> Iterator[Row]:
    """The sets that no weight is learned from."""
    for row in load("qa", "msmarco_hard_negatives"):
        kind = "good" if row["relevant"] else "same"
        yield Row("msmarco", "en", row["question"], "", row["chunk"], kind)
    answers = [row for row in load("qa", "clapnq_dev") if row["answerable"]]
    for number, row in enumerate(load("qa", "clapnq_dev")):
        kind = "good" if row["answerable"] else "same"
        yield Row("clapnq", "en", row["question"], row["answer"] or "", row["passage"], kind)
        if row["answerable"]:
            far = answers[(number + 11) % len(answers)]["passage"]
            yield Row("clapnq", "en", row["question"], row["answer"], far, "other")
    luck = random.Random(6)
    for language in ("en", "es"):
        texts = load("qa", f"xquad_{language}")
        for row in luck.sample(texts, 120):
            entry = luck.choice(row["questions"])
            shared = entry["question"], entry["answer"]
            yield Row("xquad", language, *shared, row["text"], "good")
            position = texts.index(row)
            beside = texts[position + 1 if position + 1 < len(texts) else position - 1]["text"]
            yield Row("xquad", language, *shared, beside, "same")
            yield Row("xquad", language, *shared, luck.choice(texts)["text"], "other")


class Table:
    """Rows with their figures; for a question of several parts those of the part that the chunk covers best."""

    def __init__(self, rows: list[Row], towards: bool) -> None:
        self.rows = [row for row in rows if row.reference] if towards else rows
        self.names = [n for n in (TARGET_WEIGHTS if towards else QUESTION_WEIGHTS) if n != "bias"]
        self.figures = np.array([[1.0, *self._measure(row, towards)] for row in self.rows])
        self.label = np.array([row.kind == "good" for row in self.rows]) * 1.0

    def _measure(self, row: Row, towards: bool) -> list[float]:
        chunk = [read(row.chunk)]
        if towards:
            figures = [measure_towards(row.question, row.reference, chunk, None)[0][0]]
        else:
            parts = split_question(row.question)
            figures = [measure_chunks(part, chunk, None)[0][0] for part in parts]
        best = max(figures, key=lambda each: each.get("cover", 0) + each.get("cosine", 0))
        return [best[name] for name in self.names]

    def fit(self, chosen: Any) -> dict[str, float]:
        """Fit on the chosen rows; every corpus counts alike, good rows as much as the others together."""
        count = Counter((row.corpus, row.kind) for row in self.rows)
        share = {"good": 1.0, "same": SAME_WEIGHT, "other": 1 - SAME_WEIGHT}
        weights = np.array([share[row.kind] / count[row.corpus, row.kind] for row in self.rows])
        beta = fit_logistic(self.figures[chosen], self.label[chosen], weights[chosen], 2e-3)
        return dict(zip(["bias", *self.names], np.round(beta, 2).tolist(), strict=True))

    def choose(self, names: tuple[str, ...]) -> Any:
        """Mark the rows of these corpora."""
        return np.array([row.corpus in names for row in self.rows])


def show(rows: list[Row], towards: bool) -> None:
    """Print AUROC and the chance of good chunks and others, by corpus and language, beside plain baselines."""
    print(f"\n{'towards a reference' if towards else 'for a question'}\n")
    print(
        "| corpus | negatives | rows | containment | cosine | probability | useful: good | useful: negatives |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    groups: dict[tuple[str, str], list[tuple[Row, float, float, float]]] = defaultdict(list)
    for row in rows:
        if towards and not row.reference:
            continue
        chunk, wanted = [read(row.chunk)], row.reference if towards else row.question
        useful = (
            judge_towards(row.question, row.reference, chunk, None)
            if towards
            else judge_chunks(row.question, chunk, None)
        )[0]
        cosine = measure_chunks(wanted, chunk, None)[0][0]["cosine"]
        plain = contain(wanted, row.chunk, row.language)
        groups[f"{row.corpus} {row.language}", row.kind].append((row, useful.helps, plain, cosine))
    for name in dict.fromkeys(key for key, _ in groups):
        good = groups[name, "good"]
        for kind in ("same", "other"):
            bad = groups.get((name, kind), [])
            if not bad:
                continue
            label = [1] * len(good) + [0] * len(bad)
            both = [*good, *bad]
            areas = [auroc(label, [entry[n] for entry in both]) for n in (2, 3, 1)]
            shares = [np.mean([entry[1] >= 0.5 for entry in part]) for part in (good, bad)]
            cells = [f"{value:.3f}" for value in areas] + [f"{share:.0%}" for share in shares]
            print(f"| {name} | {kind} | {len(both)} | {' | '.join(cells)} |")


def main() -> None:
    """Print the weights or the figures."""
    learned = [*list_cases(), *list_counties(), *list_reading(), *list_ragtruth()]
    if "--fit" in sys.argv:
        for towards in (False, True):
            table = Table(learned, towards)
            print(table.fit(table.choose(LEARNED_FROM)))
            for corpus in LEARNED_FROM:  # one corpus left out: what its rows get from the others
                held = table.choose((corpus,))
                if held.any():
                    beta = list(table.fit(~held).values())
                    area = auroc(table.label[held], table.figures[held] @ beta)
                    print(f"  {corpus} left out: {area:.3f}")
        return
    for towards in (False, True):
        show([*learned, *list_measured()], towards)


if __name__ == "__main__":
    main()
