"""One long row costs a bounded amount of work, and its scores say what was left out."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from ragstone import evaluate
from ragstone.judges.offline.alignment import align, index_sources
from ragstone.judges.offline.reading import read
from ragstone.text.claim_checks import find_quoted_sentence
from ragstone.text.sentences import MAX_TEXT_CHARS, cut_text, split_sentences
from ragstone.text.windows import MAX_SOURCE_CHARS, select_windows

WORDS = [
    "museum",
    "opens",
    "nine",
    "warranty",
    "lasts",
    "years",
    "bridge",
    "river",
    "city",
    "refund",
    "days",
    "receipt",
    "price",
    "tower",
]

SHORT = {
    "paragraphs": "a\n\n",
    "dots": ".",
    "chinese": "中文。",
    "one sentence": "The tower is 300 metres tall. ",
    "numbers": "7. 8. ",
    "quotations": "\"a river said he, 'and b': ",
    "citations": "The tower is tall [1]. ",
}
"""Texts of very many sentences, or of one that has no end."""


def build_text(kind: str, size: int, seed: int) -> str:
    draw = random.Random(seed)
    if kind == "no spaces":
        return "a" * size
    if kind == "figures":
        return " ".join(str(draw.randint(0, 99_999)) for _ in range(size // 6))
    if kind in SHORT:
        return (SHORT[kind] * size)[:size]
    sentences = (
        f"The {' '.join(draw.choices(WORDS, k=9))} {draw.randint(1, 2000)}."
        for _ in range(size // 60)
    )
    return " ".join(sentences)


def build_row(kind: str, size: int) -> dict[str, object]:
    texts = [build_text(kind, size, seed) for seed in range(3)]
    question = texts[0] if kind in SHORT else "When does the museum open?"
    return {"id": "1", "question": question, "answer": texts[0], "contexts": [texts[1]], "reference": texts[2]}  # fmt: skip


def test_a_long_answer_is_judged_up_to_a_bound_and_says_so() -> None:
    run = evaluate([build_row("prose", 60_000)], ["faithfulness", "token_f1"])
    scores = run.scores()["1"]
    assert any("of the answer" in note for note in scores["faithfulness"].warnings)
    assert any("closest to the claims" in note for note in scores["faithfulness"].warnings)
    assert not scores["token_f1"].warnings, "what costs little reads the whole text"


def test_the_stretch_that_speaks_of_the_claim_is_read_wherever_it_stands() -> None:
    hay = build_text("prose", 400_000, 1)
    source = f"{hay} The lighthouse keeper retired in 1912. {hay}"
    row = {"question": "When did the keeper retire?", "contexts": [source], "id": "1"}
    run = evaluate([row | {"answer": "The lighthouse keeper retired in 1912."}], ["faithfulness"])
    assert run.scores()["1"]["faithfulness"].value >= 0.6


def test_texts_within_the_bounds_are_left_alone() -> None:
    assert cut_text("x" * MAX_TEXT_CHARS) == "x" * MAX_TEXT_CHARS
    assert select_windows(["x" * MAX_SOURCE_CHARS], ["y"]) == ["x" * MAX_SOURCE_CHARS]


@pytest.mark.parametrize("kind", ["no spaces", "figures", "prose"])
def test_windows_are_verbatim_and_within_the_bound(kind: str) -> None:
    text = build_text(kind, 300_000, 2)
    (kept,) = select_windows([text], ["The museum opens at nine."])
    assert 0.9 * MAX_SOURCE_CHARS < len(kept) <= MAX_SOURCE_CHARS * 1.1
    assert all(stretch in text for stretch in kept.split("\n"))
    assert len(cut_text(text)) <= MAX_TEXT_CHARS


def test_the_sentence_of_a_claim_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[str] = []

    def find(source: str, start: int, end: int) -> str:
        looked_for.append(source[start:end])
        return find_quoted_sentence(source, start, end)

    monkeypatch.setattr("ragstone.metrics.claims.find_quoted_sentence", find)
    texts = [f"The {word} of house {n} costs {n} euros." for n in range(5) for word in WORDS]
    row = {"id": "1", "question": "What does it cost?"}
    run = evaluate([row | {"answer": " ".join(texts), "contexts": texts}], ["faithfulness"])
    assert run.scores()["1"]["faithfulness"].value is not None
    assert 0 < len(looked_for) <= 2 * len(texts)


def test_a_long_text_is_segmented_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    import sentencex

    lengths: list[int] = []

    def segment(language: str, text: str) -> Iterator[str]:
        lengths.append(len(text))
        yield text

    monkeypatch.setattr(sentencex, "segment", segment)
    text = build_text("prose", 100_000, 4)
    spans = split_sentences(text)
    assert max(lengths) <= MAX_TEXT_CHARS
    assert [text[start:end] for start, end in spans[1:]] == [
        text[end + 1 : after] for (_, end), (_, after) in pairwise(spans)
    ]


def test_a_sample_is_classed_by_what_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def find(quote: str, text: str) -> None:
        read.append(len(text))

    monkeypatch.setattr("ragstone.analysis.text_evidence.find_quote", find)
    row = build_row("prose", 100_000) | {"contexts": ["The museum opens at nine. " * 9_000]}
    assert evaluate([row], ["faithfulness"]).failures().samples == 1
    assert 0 < max(read) <= MAX_SOURCE_CHARS * 1.1


def test_words_that_a_claim_repeats_share_their_places() -> None:
    question, chunk = "How tall is it? " * 50, "It is tall. " * 50
    claim = read(question, "en")
    alignment = align(claim, index_sources((read(chunk, "en"),)))
    assert len({id(places) for places in alignment.places}) < len(alignment.places)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no spaces", "figures", "prose", *SHORT])
def test_a_million_characters_in_every_field_fit_in_400_mb(kind: str, tmp_path: Path) -> None:
    code = (
        "import sys, json, ragstone; row = json.load(open(sys.argv[1]));"
        "run = ragstone.evaluate([row], store=sys.argv[2]); assert run.scores(); assert str(run.failures());"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    file = tmp_path / "row.json"
    file.write_text(json.dumps(build_row(kind, 1_000_000)))
    done = subprocess.run(
        [sys.executable, "-c", code, file, tmp_path / "s.db"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400_000
