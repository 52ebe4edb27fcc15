"""Answers made to deceive: each must score below the true answer to the same question."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from drive import chunks, value
from rows import load

from ragstone.metrics.answer import answer_relevance
from ragstone.metrics.grounding import faithfulness
from ragstone.text.sentences import split_sentences

_NAME = re.compile(r"(?<=[\w,;»”\"] )[A-ZÁÉÍÓÚÑ][a-záéíóúñ]{2,}(?: [A-ZÁÉÍÓÚÑ][a-záéíóúñ]+)*")
_BE = re.compile(
    r"\b(is|are|was|were|has|have|had|will|can|could|would|does|did|es|son|fue|fueron|era|eran|está|están|ha|han|puede|"
    r"pueden|tiene|tienen|había)\b"
)
_SPANISH = frozenset(
    [
        "es",
        "son",
        "fue",
        "fueron",
        "era",
        "eran",
        "está",
        "están",
        "ha",
        "han",
        "puede",
        "pueden",
        "tiene",
        "tienen",
        "había",
    ]
)


def copies_the_question(
    question: str, true: str, texts: list[str], luck: random.Random
) -> str | None:
    """The question as the answer."""
    return question


def words_in_random_order(
    question: str, true: str, texts: list[str], luck: random.Random
) -> str | None:
    """All words of the chunks, shuffled."""
    words = " ".join(texts).split()
    luck.shuffle(words)
    return " ".join(words)


def flips_a_negation(question: str, true: str, texts: list[str], luck: random.Random) -> str | None:
    """A `not` put in or taken out."""
    gone = re.search(r"\b(?:not|never|no|nunca) ", true)
    if gone:
        return true[: gone.start()] + true[gone.end() :]
    verb = _BE.search(true)
    if not verb:
        return None
    new = f"no {verb.group()}" if verb.group() in _SPANISH else f"{verb.group()} not"
    return true[: verb.start()] + new + true[verb.end() :]


def swaps_two_names(question: str, true: str, texts: list[str], luck: random.Random) -> str | None:
    """Two names in each other's place."""
    names = list(_NAME.finditer(true))
    if len({match.group() for match in names}) < 2:
        return None
    one, other = sorted(luck.sample(names, 2), key=lambda match: match.start())
    if one.group() == other.group():
        return None
    return (
        true[: one.start()]
        + other.group()
        + true[one.end() : other.start()]
        + one.group()
        + true[other.end() :]
    )


def changes_one_digit(
    question: str, true: str, texts: list[str], luck: random.Random
) -> str | None:
    """One digit of one number."""
    digits = [match.start() for match in re.finditer(r"\d", true)]
    if not digits:
        return None
    at = luck.choice(digits)
    return true[:at] + luck.choice([d for d in "123456789" if d != true[at]]) + true[at + 1 :]


def says_as_the_context_states(
    question: str, true: str, texts: list[str], luck: random.Random
) -> str | None:
    """An appeal to the context instead of an answer."""
    return luck.choice(
        [
            "As the context states.",
            "The answer is as the context states.",
            "The context clearly states the answer to this question.",
            "As the context states, the answer is correct and fully supported by the sources.",
        ]
    )


KINDS: tuple[Callable[[str, str, list[str], random.Random], str | None], ...] = (
    copies_the_question,
    words_in_random_order,
    flips_a_negation,
    swaps_two_names,
    changes_one_digit,
    says_as_the_context_states,
)


def pairs(
    kind: Callable[..., str | None], count: int
) -> Iterator[tuple[str, str, str, list[str], str]]:
    """Question, true answer, false answer, chunks, language; half English, half Spanish."""
    luck = random.Random(kind.__name__)
    for language in ("en", "es"):
        rows = load("qa", f"xquad_{language}")
        items = [(n, q) for n, row in enumerate(rows) for q in row["questions"]]
        luck.shuffle(items)
        made = 0
        for n, question in items:
            text = rows[n]["text"]
            parts = [text[a:b] for a, b in split_sentences(text, language)]
            true = next((p for p in parts if question["answer"] in p), None)
            if not true or made == count // 2:
                continue
            texts = [text, luck.choice(rows)["text"]]
            false = kind(question["question"], true, texts, luck)
            if false is not None and false != true:
                made += 1
                yield question["question"], true, false, texts, language


def below(kind: Callable[..., str | None], count: int = 500) -> dict[str, float]:
    """Share of pairs in which the false answer has the lower score."""
    faithful = overall = total = 0
    for question, true, false, texts, language in pairs(kind, count):
        total += 1
        scores = []
        for answer in (true, false):
            f = value(faithfulness, answer=answer, contexts=chunks(*texts), language=language)
            scores.append((f, answer))
        faithful += scores[1][0] < scores[0][0]
        both = [
            f + value(answer_relevance, question=question, answer=answer, language=language)
            for f, answer in scores
        ]
        overall += both[1] < both[0]
    return {
        "pairs": total,
        "faithfulness": faithful / total,
        "with answer_relevance": overall / total,
    }
