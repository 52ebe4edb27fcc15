"""The nearest passages of other documents: the best ones, cut where they speak of it."""

from __future__ import annotations

import pytest

from ragstone import read
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.passages import MAX_PASSAGE_CHARS, cut_passage, find_nearest_passages
from ragstone.testset.sources import open_corpus


def test_the_nearest_document_is_the_best_and_not_the_first() -> None:
    documents = [
        *(Document(f"d{n}", f"Tickets of the museum number {n} cost money.") for n in range(30)),
        Document("far", "The ferry to Skarholm leaves at noon and its tickets cost 12 euros."),
    ]
    with open_corpus(documents) as corpus, CorpusIndex(corpus) as index:
        passages = find_nearest_passages(
            index, "What do tickets for the ferry to Skarholm cost?", 2, frozenset()
        )
        assert passages[0][0] == "far"
        without = find_nearest_passages(
            index, "What do tickets for the Skarholm ferry cost?", 2, frozenset({"far"})
        )
        assert "far" not in {name for name, _ in without}


def test_questions_find_their_documents() -> None:
    hits = asked = 0
    with open_corpus(corpora.documents()) as corpus, CorpusIndex(corpus) as index:
        for record in list(read(str(corpora.questions())))[::4]:
            wanted = {name for name, grade in (record.sample.relevant or {}).items() if grade > 0}
            if wanted and record.sample.meta["type"] not in ("cross", "paraphrase"):
                asked += 1
                names = {
                    name
                    for name, _ in find_nearest_passages(
                        index, record.sample.question or "", 2, frozenset()
                    )
                }
                hits += bool(names & wanted)
    assert hits / asked > 0.85


@pytest.mark.parametrize("place", [0, 40, 79])
def test_a_passage_is_a_part_of_its_document_that_holds_the_words(place: int) -> None:
    lines = [f"Line {n} tells of nothing in particular and goes on for a while." for n in range(80)]
    lines[place] = "Here the zeppelin lands."
    text = "\n".join(lines)
    passage = cut_passage(Document("d", text), ["zeppelin"])
    assert "zeppelin" in passage
    assert passage in text
    assert len(passage) <= 2 * MAX_PASSAGE_CHARS
