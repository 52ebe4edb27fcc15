"""Does an answer address its question? Fits the small model of the embedded judge and measures answer_relevance.

    python bench/judge/relevance.py          figures of the shipped weights, and leave one corpus out
    python bench/judge/relevance.py --fit    weights fitted on the corpora that may be learned from (TRAINED)

Good answers are references, sentences that hold them, long answers and answers of language models; wrong ones are answers
of the same shape to questions about another document and about the same one."""

from __future__ import annotations

import csv
import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measures import auroc
from rows import load

from ragstone.judges.offline.inquiry import WEIGHTS, measure_pair
from ragstone.judges.offline.question_kinds import split_question
from ragstone.text.encoder import encode
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences

HOME = Path(__file__).resolve().parents[2]
TRAINED = ("counties", "reading", "ragtruth")
"""Corpora of our own, and RAGTruth, from which weights may be learned; the others are only measured."""
MAX_PER_SHAPE = 300
AMBIGUOUS = 0.05
"""Weight of a wrong bare answer that is of the kind asked for: from the texts alone, 1937 does answer any `when`."""
SAME = 0.3
"""Weight of answers from the same document against those from others."""
SHARPNESS = 1.6
"""Factor on the fitted weights: the fit is too timid on unseen corpora (calibration error 0.041, 0.038 with it)."""
NAMES = tuple(name for name in WEIGHTS if name != "bias")


class Item(NamedTuple):
    """A question with a good answer."""

    corpus: str
    language: str
    shape: str
    document: str
    question: str
    answer: str


class Pair(NamedTuple):
    """A question with some answer: `good`, of another document (`other`) or of the same one (`same`)."""

    item: Item
    answer: str
    kind: str


def list_items() -> list[Item]:
    """List the questions with good answers of all corpora."""
    items = []
    path = HOME / "src/ragstone/data/corpora/counties/questions.jsonl"
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        if row.get("reference"):
            items.append(
                Item(
                    "counties",
                    row["language"],
                    "reference",
                    row["group"],
                    row["question"],
                    row["reference"],
                )
            )
    for language in ("en", "es"):
        with (HOME / f"bench/testset_reading/{language}.csv").open(encoding="utf-8") as lines:
            items += [
                Item(
                    "reading",
                    language,
                    "reference",
                    row["source"],
                    row["question"],
                    row["reference"],
                )
                for row in csv.DictReader(lines)
                if row["verdict"] == "good" and not row["question"].startswith("[")
            ]
        items += _list_xquad(language)
    items += [
        Item("clapnq", "en", "long", row["id"], row["question"], row["answer"])
        for row in load("qa", "clapnq_dev")
        if row["answerable"] and row["answer"]
    ]
    for row in load("qa", "answer_equivalence_nq301"):
        items += [
            Item("nq301", "en", "reference", row["question"], row["question"], row["references"][0])
        ]
        if row["acceptable"] and len(row["answer"].split()) > 4:
            items.append(
                Item("nq301", "en", "sentence", row["question"], row["question"], row["answer"])
            )
    items += [
        Item("ragtruth", "en", "long", row["question"], row["question"], row["claim"])
        for row in load("judge", "ragtruth_test")
        if row["question"]
    ]
    return [item for item in dict.fromkeys(items) if not is_refusal(item.answer, item.language)]


def _list_xquad(language: str) -> list[Item]:
    items = []
    for row in load("qa", f"xquad_{language}"):
        sentences = [row["text"][a:b] for a, b in split_sentences(row["text"], language)]
        for entry in row["questions"]:
            question, answer = entry["question"], entry["answer"]
            items.append(Item("xquad", language, "reference", row["doc_id"], question, answer))
            items += [
                Item("xquad", language, "sentence", row["doc_id"], question, sentence)
                for sentence in sentences
                if answer in sentence
            ][:1]
    return items


def make_pairs(seed: int = 5) -> list[Pair]:
    """Give each question its answer, one of another document and one of the same document, of the same shape."""
    luck = random.Random(seed)
    shapes: dict[tuple[str, str, str], list[Item]] = defaultdict(list)
    for item in list_items():
        shapes[item[:3]].append(item)
    pairs = []
    for items in shapes.values():
        for item in luck.sample(items, min(len(items), MAX_PER_SHAPE)):
            pairs.append(Pair(item, item.answer, "good"))
            apart = [o for o in items if o.document != item.document and o.answer != item.answer]
            pairs.append(Pair(item, luck.choice(apart).answer, "other"))
            beside = [
                o
                for o in items
                if o.document == item.document
                and o.question != item.question
                and o.answer != item.answer
            ]
            if beside:
                pairs.append(Pair(item, luck.choice(beside).answer, "same"))
    return pairs


class Table:
    """The figures of the pairs, a row for each part of a question."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs
        rows, owners, cosines = [], [], []
        for number, pair in enumerate(pairs):
            question, language = pair.item.question, pair.item.language
            for part in split_question(question):
                figures = measure_pair(part, pair.answer, language)
                rows.append([1.0, *(figures[name] for name in NAMES)])
                owners.append(number)
            vectors = encode([question, pair.answer])
            cosines.append(float(vectors[0] @ vectors[1]))
        self.rows, self.owners, self.cosines = np.array(rows), np.array(owners), np.array(cosines)
        self.kinds = np.array([pair.kind for pair in pairs])
        self.corpora = np.array([pair.item.corpus for pair in pairs])
        self.keys = np.array([" ".join(pair.item[:3]) for pair in pairs])

    def fit(self, chosen: Any) -> Any:
        """Fit the logistic model on the chosen pairs; every corpus and shape weighs the same."""
        kinds, keys = self.kinds[self.owners], self.keys[self.owners]
        brief = self.rows[:, 1 + NAMES.index("brief")] > 0
        # bare answers about the same document answer each other's questions as far as the texts tell
        chosen = chosen[self.owners] & ~(brief & (kinds == "same"))
        weights = np.zeros(len(self.rows))
        for key in set(keys[chosen]):
            for kind, weight in (("good", 1.0 + SAME), ("other", 1.0), ("same", SAME)):
                group = chosen & (keys == key) & (kinds == kind)
                weights[group] = weight / max(group.sum(), 1)
        fits = self.rows[:, 1 + NAMES.index("fit")] > 0
        weights[(kinds == "other") & fits] *= AMBIGUOUS
        labels = (kinds == "good")[chosen] * 1.0
        return SHARPNESS * fit_logistic(self.rows[chosen], labels, weights[chosen])

    def score(self, coefficients: Any) -> Any:
        """Score every pair: the mean chance over the parts of its question."""
        chances = 1 / (1 + np.exp(-self.rows @ coefficients))
        return np.bincount(self.owners, chances) / np.bincount(self.owners)

    def show(self, scores: Any, title: str) -> None:
        """Print medians and AUROC by corpus, language and shape."""
        print(
            f"\n{title}\n\n| corpus | good answers, median | of another document | of the same document | AUROC other | cosine alone | AUROC same | cosine alone |"
        )
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for key in sorted(set(self.keys)):
            groups = {
                kind: (self.keys == key) & (self.kinds == kind)
                for kind in ("good", "other", "same")
            }
            cells = [
                f"{np.median(scores[group]):.2f}" if group.any() else ""
                for group in groups.values()
            ]
            for kind in ("other", "same"):
                both = groups["good"] | groups[kind]
                label = groups["good"][both]
                cells += [
                    f"{auroc(label, values[both]):.3f}" if groups[kind].any() else ""
                    for values in (scores, self.cosines)
                ]
            print(f"| {key} | {' | '.join(cells)} |")


def fit_logistic(rows: Any, labels: Any, weights: Any, ridge: float = 1e-4) -> Any:
    """Fit weighted logistic regression by Newton's method; the first column is the constant."""
    coefficients = np.zeros(rows.shape[1])
    penalty = np.eye(rows.shape[1]) * ridge * weights.sum()
    penalty[0, 0] = 0
    for _ in range(60):
        chances = 1 / (1 + np.exp(-rows @ coefficients))
        gradient = rows.T @ (weights * (chances - labels)) + penalty @ coefficients
        curvature = (rows.T * (weights * chances * (1 - chances))) @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        coefficients -= step
        if abs(step).max() < 1e-9:
            break
    return coefficients


def show_halves(language: str, coefficients: Any, count: int = 150, seed: int = 6) -> None:
    """Print the medians of two questions in a row, answered by one sentence, by two, and by none of them."""
    luck = random.Random(seed)
    by_document: dict[str, list[Item]] = defaultdict(list)
    for item in _list_xquad(language):
        if item.shape == "sentence":
            by_document[item.document].append(item)
    documents = [items for items in by_document.values() if len({i.answer for i in items}) > 1]
    values: dict[str, list[float]] = defaultdict(list)
    for items in luck.sample(documents, min(count, len(documents))):
        first = items[0]
        second = next(item for item in items if item.answer != first.answer)
        question = f"{first.question} {second.question}"
        other = luck.choice([o[0] for o in documents if o is not items]).answer
        answers = {"whole": f"{first.answer} {second.answer}", "half": first.answer, "none": other}
        for name, answer in answers.items():
            table = Table([Pair(first._replace(question=question), answer, "good")])
            values[name].append(float(table.score(coefficients)[0]))
    print(
        f"two questions, {language}: "
        + ", ".join(f"{n} answer {np.median(v):.2f}" for n, v in values.items())
    )


def main() -> None:
    """Print the weights or the figures."""
    table = Table(make_pairs())
    if "--fit" in sys.argv:
        coefficients = table.fit(np.isin(table.corpora, TRAINED))
        print({n: round(float(c), 2) for n, c in zip(("bias", *NAMES), coefficients, strict=True)})
        table.show(table.score(coefficients), "as fitted")
        return
    shipped = np.array([WEIGHTS["bias"], *(WEIGHTS[name] for name in NAMES)])
    table.show(table.score(shipped), f"shipped weights, learned from {', '.join(TRAINED)}")
    scores = np.zeros(len(table.pairs))
    for corpus in sorted(set(table.corpora)):
        coefficients = table.fit(table.corpora != corpus)
        scores[table.corpora == corpus] = table.score(coefficients)[table.corpora == corpus]
    table.show(scores, "leave one corpus out: learned from all other corpora")
    for language in ("en", "es"):
        show_halves(language, shipped)


if __name__ == "__main__":
    main()
