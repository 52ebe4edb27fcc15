"""The other kinds of question against people, each beside the plainest way."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.judge.measures import auroc
from bench.judge.rows import load
from ragstone.asks import Ask, Case, questions, rate, support, useful
from ragstone.judges.offline import OfflineJudge
from ragstone.metrics.rubric import COHERENCE
from ragstone.text.content import find_content_words
from ragstone.text.encoder import encode
from ragstone.text.sentences import split_sentences
from ragstone.text.words import split_bare_words
from ragstone.types import Chunk

XQUAD_QUESTIONS = 200
HARD_ANSWERS = Path(__file__).with_name("hard_answers.jsonl")
"""Answers, and statements on the same subject that answer another question, by a writer who had seen
no rule. Measured, never tuned on."""


def measure_all() -> dict[str, dict[str, float]]:
    """AUROC of the judge and of plain ways, task by task."""
    relevant = [
        (row["question"], row["chunk"], row["relevant"])
        for row in load("qa", "msmarco_hard_negatives")
    ]
    answerable = [
        (row["question"], row["passage"], row["answerable"]) for row in load("qa", "clapnq_dev")
    ]
    return {
        "relevant chunk or hard negative (MS MARCO)": _measure_chunks(relevant),
        "passage that answers or not (CLAP NQ)": _measure_chunks(answerable),
        "paragraph or its neighbour (XQuAD en)": _measure_chunks(_list_paragraphs("en")),
        "paragraph or its neighbour (XQuAD es)": _measure_chunks(_list_paragraphs("es")),
        "answer or another question's (XQuAD en)": _measure_answers(_list_answers("en")),
        "answer or another question's (XQuAD es)": _measure_answers(_list_answers("es")),
        "answer or another statement on the subject (en)": _measure_answers(_read_hard("en")),
        "answer or another statement on the subject (es)": _measure_answers(_read_hard("es")),
        "short answer that people accept (NQ)": _measure_correctness(),
        "text or the same jumbled, doubled or cut off": _measure_coherence(),
    }


_Labelled = tuple[str, str, Any]
"""Question, text, label."""


def _ask(asks: Sequence[Ask]) -> list[Any]:
    replies: list[Any] = asyncio.run(OfflineJudge().answer(asks))
    return [reply.value for reply in replies]


def _measure_chunks(rows: Sequence[_Labelled]) -> dict[str, float]:
    labels = [int(label) for *_, label in rows]
    replies = _ask([useful(q, [Chunk("k", text)], {"question": None}) for q, text, _ in rows])
    judged = [reply["grades"][0]["probability"] for reply in replies]
    return {
        "judge": auroc(labels, judged),
        "shared words": auroc(labels, [_share_words(q, text) for q, text, _ in rows]),
        "cosine": auroc(labels, _list_cosines(rows)),
    }


def _share_words(question: str, text: str) -> float:
    asked = find_content_words(question)
    return len(asked & find_content_words(text)) / max(len(asked), 1)


def _list_cosines(rows: Sequence[_Labelled]) -> list[float]:
    left, right = encode([q for q, *_ in rows]), encode([text for _, text, _ in rows])
    found: list[float] = (left * right).sum(axis=1).tolist()
    return found


def _measure_answers(rows: Sequence[_Labelled]) -> dict[str, float]:
    labels = [int(label) for *_, label in rows]
    judged = []
    for reply in _ask([questions(text, question=q) for q, text, _ in rows]):
        chances = [part["probability"] for part in reply["addresses"]] or [0.0]
        judged.append(sum(chances) / len(chances))
    return {"judge": auroc(labels, judged), "cosine": auroc(labels, _list_cosines(rows))}


def _read_hard(language: str) -> list[_Labelled]:
    rows = [json.loads(line) for line in HARD_ANSWERS.read_text("utf-8").splitlines()]
    return [(r["question"], r["answer"], r["label"]) for r in rows if r["language"] == language]


def _list_paragraphs(language: str) -> list[_Labelled]:
    luck = random.Random(1)
    texts = load("qa", f"xquad_{language}")
    asked = [(n, q["question"]) for n, row in enumerate(texts) for q in row["questions"]]
    return [
        (question, texts[n + shift if n + shift < len(texts) else n - 1]["text"], 1 - shift)
        for n, question in luck.sample(asked, XQUAD_QUESTIONS)
        for shift in (0, 1)
    ]


def _list_answers(language: str) -> list[_Labelled]:
    """The sentence that holds the answer, and that of another question."""
    luck = random.Random(2)
    items = []
    for row in load("qa", f"xquad_{language}"):
        parts = [row["text"][a:b] for a, b in split_sentences(row["text"], language)]
        for question in row["questions"]:
            holding = [part for part in parts if question["answer"] in part]
            items += [(row["doc_id"], question["question"], holding[0])] if holding else []
    rows: list[_Labelled] = []
    for document, question, sentence in luck.sample(items, XQUAD_QUESTIONS):
        other = luck.choice([item for item in items if item[0] != document])
        rows += [(question, sentence, 1), (question, other[2], 0)]
    return rows


def _measure_correctness() -> dict[str, float]:
    """The chance of an answer by its references, and of them the best."""
    rows = load("qa", "answer_equivalence_nq301")
    judged, counted = [], []
    for row in rows:
        cases = [
            Case((row["answer"],), (Chunk("k", text),), question=row["question"])
            for text in row["references"]
        ]
        verdicts = _ask([support(*cases)])[0]["verdicts"]
        judged.append(max(verdict["probability"] for verdict in verdicts))
        counted.append(max(_count_f1(row["answer"], text) for text in row["references"]))
    labels = [row["acceptable"] for row in rows]
    return {"judge": auroc(labels, judged), "token F1": auroc(labels, counted)}


def _count_f1(answer: str, reference: str) -> float:
    own, wanted = Counter(split_bare_words(answer)), Counter(split_bare_words(reference))
    return 2 * sum((own & wanted).values()) / max(own.total() + wanted.total(), 1)


def _measure_coherence() -> dict[str, float]:
    """Paragraphs of XQuAD against themselves with words in random order, a sentence twice, or the
    end cut off."""
    luck = random.Random(3)
    rows: list[tuple[str, int]] = []
    for number, row in enumerate(load("qa", "xquad_en")[:120]):
        text = row["text"].strip("\ufeff ")
        words = text.split()
        jumbled = " ".join(luck.sample(words, len(words))) + "."
        first = text[: split_sentences(text, "en")[0][1]]
        spoiled = (jumbled, f"{text} {first}", " ".join(words[: len(words) * 2 // 3]))
        rows += [(text, 1), (spoiled[number % 3], 0)]
    asks = [rate({"answer": text}, "coherence", *COHERENCE["en"]) for text, _ in rows]
    levels = [reply["level"] for reply in _ask(asks)]
    return {"judge": auroc([label for _, label in rows], levels), "constant": 0.5}
