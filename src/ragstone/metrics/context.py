"""Whether what was retrieved is what the question needs, judged chunk by chunk."""

from __future__ import annotations

from typing import NamedTuple

from ragstone.asks import Asking, ask_all, useful
from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.locale.messages import Message, compose
from ragstone.metrics.claims import (
    check_claims,
    index_rows,
    list_sources,
    name_chunks,
    read_rows,
    split_claims,
)
from ragstone.registry import metric
from ragstone.text.words import fold_text
from ragstone.types import Chunk, Finding, Ranked, Score, share

NOTHING_RETRIEVED = Score(0.0, warnings=(compose("nothing_retrieved"),))
"""The score of a defined case: no chunk, so none that helps."""


@metric
def context_relevance(
    question: str, contexts: Ranked, language: str | None = None
) -> Asking[Score]:
    """Mean grade of the chunks for the question (0, 1 or 2) ÷ 2, the judge asked twice in different wording and averaged.

    A chunk without text, or one that is the question itself, is 0."""
    graded = yield from grade_chunks(
        question, contexts, "question", None, language, wordings=(1, 2)
    )
    if not graded:
        return NOTHING_RETRIEVED
    means = [sum(grade for grade, _ in one.grades) / len(one.grades) for one in graded]
    words = ("not_relevant", "partly_relevant", "relevant")
    findings = tuple(
        one.to_finding(words[int(mean + 0.5)]) for one, mean in zip(graded, means, strict=True)
    )
    return Score(sum(means) / len(means) / 2, findings=findings)


@metric
def context_precision(
    question: str, contexts: Ranked, reference: str, language: str | None = None
) -> Asking[Score]:
    """Average precision of the chunks judged useful for reaching the reference, over the useful ones retrieved.

    A chunk is useful when its grade is 1 or 2; the score is 0 when none is."""
    return (yield from _average_precision(question, contexts, "reference", reference, language))


@metric
def context_precision_unreferenced(
    question: str, contexts: Ranked, answer: str, language: str | None = None
) -> Asking[Score]:
    """Average precision of the chunks judged useful for reaching the answer, over the useful ones retrieved."""
    return (yield from _average_precision(question, contexts, "answer", answer, language))


@metric
def context_recall(contexts: Ranked, reference: str, language: str | None = None) -> Asking[Score]:
    """Claims of the reference supported by the contexts ÷ its claims."""
    sources = list_sources(contexts)
    claims = yield from split_claims(reference, "reference", language)
    checked = yield from check_claims(claims, sources, language)
    return share([one.to_finding(sources) for one in checked], "supported")


class GradedChunk(NamedTuple):
    """A chunk with the grade and the reason that each wording of the question got."""

    chunk: Chunk
    grades: tuple[tuple[int, str], ...]

    def to_finding(self, verdict: str) -> Finding:
        """The chunk as evidence behind a score: its opening words, its grades and why."""
        # so many words are longer than the opening, whatever they are: the rest need not be looked at
        text = " ".join(
            self.chunk.text.split(None, PREVIEW_CHARS // 2 + 1)[: PREVIEW_CHARS // 2 + 1]
        )
        grades = tuple(_explain_grade(grade, reason) for grade, reason in self.grades)
        return Finding(
            text=text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…",
            verdict=verdict,
            reason=grades[0] if len(grades) == 1 else compose("grades_given", grades=grades),
            chunk=self.chunk.id,
        )


def _explain_grade(grade: int, reason: str) -> Message:
    # a model's reason may end in a colon or be nothing else; our own never does
    why = reason if isinstance(reason, Message) else reason.rstrip(": ")
    if not why:
        return compose("grade_given", grade=grade)
    return compose("grade_given_because", grade=grade, reason=why)


PREVIEW_CHARS = 120
"""How much of a chunk a finding repeats; the sample has the whole."""


def grade_chunks(
    question: str,
    contexts: Ranked,
    target: str,
    text: str | None,
    language: str | None,
    wordings: tuple[int, ...] = (1,),
) -> Asking[list[GradedChunk]]:
    """Each chunk with how useful it is for the target, in ranked order.

    Which chunks are asked about depends on the question alone, so that metrics with other targets share the Ask."""
    if not question.strip():
        raise NotApplicable("empty_field", field="question")
    known: dict[int, tuple[tuple[int, str], ...]] = {}
    chunks = name_chunks(contexts)
    asked_for = fold_text(question)
    for at, chunk in enumerate(chunks):
        why = _explain_worthless(chunk, asked_for)
        if why:
            known[at] = ((0, why),)
    asked = [at for at in range(len(chunks)) if at not in known]
    if asked:
        texts = [chunks[at] for at in asked]
        replies = yield from ask_all(
            *(
                useful(question, texts, {target: text}, wording=wording, language=language)
                for wording in wordings
            )
        )
        read = [_read_grades(reply, len(asked), target) for reply in replies]
        known |= {at: tuple(column) for at, *column in zip(asked, *read, strict=True)}
    return [GradedChunk(chunk, known[at]) for at, chunk in enumerate(chunks)]


def _average_precision(
    question: str, contexts: Ranked, target: str, text: str, language: str | None
) -> Asking[Score]:
    if not text.strip():
        raise NotApplicable("empty_field", field=target)
    graded = yield from grade_chunks(question, contexts, target, text, language)
    if not graded:
        return NOTHING_RETRIEVED
    words = ("not_useful", "partly_useful", "useful")
    findings = tuple(one.to_finding(words[one.grades[0][0]]) for one in graded)
    ranks = [rank for rank, one in enumerate(graded, 1) if one.grades[0][0]]
    precisions = [nth / rank for nth, rank in enumerate(ranks, 1)]
    return Score(sum(precisions) / len(ranks) if ranks else 0.0, findings=findings)


def _explain_worthless(chunk: Chunk, question: str) -> str:
    """Why a chunk is worth nothing for a folded question without asking; empty when it must be asked."""
    if not chunk.text.strip():
        return compose("chunk_empty")
    return compose("chunk_is_question") if fold_text(chunk.text) == question else ""


def _read_grades(reply: object, count: int, target: str) -> list[tuple[int, str]]:
    rows = read_rows(reply, "grades", id=str, target=str, grade=int, reason=str)
    if any(row["target"] != target for row in rows):
        raise JudgeFailed("incomplete", "graded_for_another", field=target)
    ids = [f"k{n}" for n in range(1, count + 1)]
    found = index_rows(rows, "id", ids)
    if any(row["grade"] not in (0, 1, 2) for row in rows):
        raise JudgeFailed("unparseable", "grade_unknown")
    return [(found[name]["grade"], found[name]["reason"]) for name in ids]
