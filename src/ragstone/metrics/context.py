"""Context metrics: whether the retrieved chunks are useful for the question, by a judge, chunk by chunk."""

from __future__ import annotations

from typing import NamedTuple

from ragstone.asks import Asking, ask_all, useful
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.locale.messages import Message, compose
from ragstone.metrics.claims import check_claims, list_sources, name_chunks, split_claims
from ragstone.metrics.history import read_question
from ragstone.metrics.replies import index_rows, read_opinion, read_rows
from ragstone.registry import metric
from ragstone.text.words import fold_text
from ragstone.types import (
    Chunk,
    Dialogue,
    Finding,
    Ranked,
    Score,
    SecondOpinion,
    Steps,
    expected_share,
)

NOTHING_RETRIEVED = Score(0.0, warnings=(compose("nothing_retrieved"),))
"""The score of an empty retrieval, which is a defined case: no chunk is useful."""


@metric
def context_relevance(
    question: str,
    contexts: Ranked,
    language: str | None = None,
    messages: Dialogue | None = None,
    *,
    together: bool = False,
) -> Asking[Score]:
    """Mean grade of the chunks for the question (0, 1 or 2) ÷ 2, the judge asked twice in different wording and averaged; `together` grades all chunks as one text (Ragas' way).

    A chunk without text, or one that is the question itself, is 0, and no part of that one text."""
    question = yield from read_question(question, messages, language)
    if together:
        contexts = _join_chunks(contexts, question)
    chunks = yield from grade_chunks(
        question, contexts, "question", None, language, wordings=(1, 2)
    )
    if not chunks:
        return NOTHING_RETRIEVED
    means = [sum(grade for grade, _ in chunk.grades) / len(chunk.grades) for chunk in chunks]
    verdicts = ("not_relevant", "partly_relevant", "relevant")
    findings = tuple(
        chunk.to_finding(verdicts[int(mean + 0.5)])
        for chunk, mean in zip(chunks, means, strict=True)
    )
    return Score(sum(means) / len(means) / 2, findings=findings)


@metric
def context_precision(
    question: str,
    contexts: Ranked,
    reference: str,
    language: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[Score]:
    """Average precision of the chunks judged useful for reaching the reference, over the useful ones retrieved.

    A chunk is useful when its grade is 1 or 2; the score is 0 when none is."""
    question = yield from read_question(question, messages, language)
    return (yield from _average_precision(question, contexts, "reference", reference, language))


@metric
def context_precision_unreferenced(
    question: str,
    contexts: Ranked,
    answer: str,
    language: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[Score]:
    """Average precision of the chunks judged useful for reaching the answer, over the useful ones retrieved."""
    question = yield from read_question(question, messages, language)
    return (yield from _average_precision(question, contexts, "answer", answer, language))


@metric
def context_recall(
    contexts: Ranked, reference: str, language: str | None = None, steps: Steps | None = None
) -> Asking[Score]:
    """Claims of the reference supported by the contexts ÷ its claims, each claim counted with its probability."""
    sources = list_sources(contexts, steps)
    claims = yield from split_claims(reference, "reference", language)
    checked = yield from check_claims(claims, sources, language)
    return expected_share([claim.to_finding(sources) for claim in checked], "supported")


class GradedChunk(NamedTuple):
    """A chunk with a grade and a reason from each wording of the question."""

    chunk: Chunk
    grades: tuple[tuple[int, str], ...]
    opinion: SecondOpinion | None = None
    """Who decided the first grade, when the judge is a cascade."""

    def to_finding(self, verdict: str) -> Finding:
        """Convert the chunk to a finding of a score: its first words, its grades and their reasons."""
        # this many words exceed the preview even at one letter each: a long chunk is not split further
        text = " ".join(
            self.chunk.text.split(None, PREVIEW_CHARS // 2 + 1)[: PREVIEW_CHARS // 2 + 1]
        )
        grades = tuple(_explain_grade(grade, reason) for grade, reason in self.grades)
        return Finding(
            text=text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…",
            verdict=verdict,
            reason=grades[0] if len(grades) == 1 else compose("grades_given", grades=grades),
            chunk=self.chunk.id,
            opinion=self.opinion,
        )


def _explain_grade(grade: int, reason: str) -> Message:
    # a model's reason may end in a colon or be nothing else; a Message, composed here, never does
    text = reason if isinstance(reason, Message) else reason.rstrip(": ")
    if not text:
        return compose("grade_given", grade=grade)
    return compose("grade_given_because", grade=grade, reason=text)


PREVIEW_CHARS = 120
"""Length of the text of a chunk in a finding; the sample has the whole chunk."""


def grade_chunks(
    question: str,
    contexts: Ranked,
    target: str,
    text: str | None,
    language: str | None,
    wordings: tuple[int, ...] = (1,),
) -> Asking[list[GradedChunk]]:
    """Grade how useful each chunk is for the target, in ranked order.

    Which chunks are asked about depends on the question alone, so that metrics with other targets share the Ask."""
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    grades: dict[int, tuple[tuple[int, str], ...]] = {}
    opinions: dict[int, SecondOpinion | None] = {}
    chunks = name_chunks(contexts)
    folded_question = fold_text(question)
    for index, chunk in enumerate(chunks):
        reason = _explain_worthless(chunk, folded_question)
        if reason:
            grades[index] = ((0, reason),)
    open_indexes = [index for index in range(len(chunks)) if index not in grades]
    if open_indexes:
        open_chunks = [chunks[index] for index in open_indexes]
        replies = yield from ask_all(
            *(
                useful(question, open_chunks, {target: text}, wording=wording, language=language)
                for wording in wordings
            )
        )
        grades_by_wording = [_read_grades(reply, len(open_indexes), target) for reply in replies]
        # read after the grades, which check the reply
        rows = {row["id"]: row for row in replies[0]["grades"]}
        opinions = {
            index: read_opinion(rows[f"k{number}"]) for number, index in enumerate(open_indexes, 1)
        }
        grades |= {
            index: tuple(chunk_grades)
            for index, *chunk_grades in zip(open_indexes, *grades_by_wording, strict=True)
        }
    return [
        GradedChunk(chunk, grades[index], opinions.get(index)) for index, chunk in enumerate(chunks)
    ]


def _join_chunks(contexts: Ranked, question: str) -> Ranked:
    """Join the chunks that a judge would grade into one; without any, return the chunks as they are."""
    folded_question = fold_text(question)
    chunks = [c for c in name_chunks(contexts) if not _explain_worthless(c, folded_question)]
    if len(chunks) < 2:
        return Ranked(chunks or contexts)
    ids, texts = ", ".join(chunk.id for chunk in chunks), [chunk.text for chunk in chunks]
    return Ranked([Chunk(ids, "\n\n".join(texts))])


def _average_precision(
    question: str, contexts: Ranked, target: str, text: str, language: str | None
) -> Asking[Score]:
    if not text.strip():
        raise NotApplicable("empty_field", field=target)
    chunks = yield from grade_chunks(question, contexts, target, text, language)
    if not chunks:
        return NOTHING_RETRIEVED
    verdicts = ("not_useful", "partly_useful", "useful")
    findings = tuple(chunk.to_finding(verdicts[chunk.grades[0][0]]) for chunk in chunks)
    ranks = [rank for rank, chunk in enumerate(chunks, 1) if chunk.grades[0][0]]
    precisions = [count / rank for count, rank in enumerate(ranks, 1)]
    return Score(sum(precisions) / len(ranks) if ranks else 0.0, findings=findings)


def _explain_worthless(chunk: Chunk, question: str) -> str:
    """Explain why a chunk gets grade 0 without asking a judge; empty when a judge must grade it."""
    if not chunk.text.strip():
        return compose("chunk_empty")
    return compose("chunk_is_question") if fold_text(chunk.text) == question else ""


def _read_grades(reply: object, count: int, target: str) -> list[tuple[int, str]]:
    rows = read_rows(reply, "grades", id=str, target=str, grade=int, reason=str)
    if any(row["target"] != target for row in rows):
        raise JudgeFailed("incomplete", "graded_for_another", field=target)
    ids = [f"k{number}" for number in range(1, count + 1)]
    by_id = index_rows(rows, "id", ids)
    if any(row["grade"] not in (0, 1, 2) for row in rows):
        raise JudgeFailed("unparseable", "grade_unknown")
    return [(by_id[name]["grade"], by_id[name]["reason"]) for name in ids]
