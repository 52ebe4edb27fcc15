"""What the embedded judge makes of conversations, beside the simplest rules.

    python -m bench.conversations

Sixteen questions with their history in each language, written after the rules were complete: a rewording is right when
it has the words that it must have and none that it must not, and two questions have to be refused. Then ten conversations
of three turns in each language, written before any of them was judged, and what is made of them: answers swapped between
and within conversations, a fourth turn that repeats or contradicts an earlier answer, goals that are reached or not.
Balanced accuracy is the mean of the shares of both classes that are seen; 0.5 is chance."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ragstone.judges.offline.conversation import (
    ADDRESS_BAR,
    answer_turns,
    find_goal,
    keeps_topic,
    read_turns,
)
from ragstone.judges.offline.relevance import compute_chance
from ragstone.judges.offline.standalone import make_standalone
from ragstone.text.content import find_content_words
from ragstone.text.refusals import is_refusal

CASES = Path(__file__).parent / "conversation_cases"
LANGUAGES = ("en", "es")
DEFERRALS = {"en": "I will check that and let you know.", "es": "Lo comprobaré y te aviso."}
CLARIFICATIONS = {
    "en": ("Could you tell me what exactly you need?", "Just that, please."),
    "es": ("¿Podrías decirme qué necesitas exactamente?", "Solo eso, por favor."),
}
Turn = tuple[str, str]
Labelled = tuple[list[Turn], bool]
"""A conversation, and whether it is of the good class."""


def main() -> None:
    """Print the figures of each language."""
    for language in LANGUAGES:
        print_language(language)


def print_language(language: str) -> None:
    """Print the figures of one language, each with its simplest rules."""
    cases = [json.loads(line) for line in (CASES / f"{language}.jsonl").open(encoding="utf-8")]
    print(f"\n{language}: {len(cases)} conversations")
    print_standalone(language)
    print_table("topic kept", list(build_topic(cases)), {
        "embedded": lambda turns: judge_topic(turns, language),
        "always reworded": lambda turns: judge_reworded(turns, language),
        "never reworded": lambda turns: is_refusal(turns[-1][1], language) or _measure(*turns[-1], language),
        "a common word": lambda turns: not find_content_words(turns[-1][0]).isdisjoint(find_content_words(turns[-1][1])),
        "always yes": lambda turns: True,
    })  # fmt: skip
    print_table("knowledge kept", list(build_knowledge(cases)), {
        "embedded": lambda turns: judge_knowledge(turns, language),
        "no other figure": has_no_other_figure,
        "always yes": lambda turns: True,
    })  # fmt: skip
    print_table("goal reached", list(build_goals(cases, language)), {
        "embedded": lambda turns: judge_goal(turns, language),
        "last answer no refusal": lambda turns: not is_refusal(turns[-1][1], language),
        "always yes": lambda turns: True,
    })  # fmt: skip


def print_standalone(language: str) -> None:
    """Print how many questions are reworded rightly, wrongly or not at all, beside two ways without rules."""
    ways: dict[str, Callable[[str, list[tuple[str, str]]], str | None]] = {
        "embedded": lambda question, said: make_standalone(question, said, language),
        "unchanged": lambda question, said: question,
        "after the question before": lambda question, said: f"{said[-2][1]} {question}",
    }
    for name, way in ways.items():
        right = wrong = refused = 0
        for question, said, wanted in _load_alone(language):
            text = way(question, said)
            if text is None:
                refused += 1
                right += wanted is None
            elif wanted is not None and _fits(text, *wanted):
                right += 1
            else:
                wrong += 1
        print(f"  stands alone, {name}: {right} right, {wrong} wrong of 16, {refused} refused")


def _load_alone(language: str) -> Iterator[tuple[str, list[tuple[str, str]], Any]]:
    roles = ("user", "assistant")
    for line in (CASES / f"alone_{language}.jsonl").open(encoding="utf-8"):
        case = json.loads(line)
        said = [(roles[at % 2], text) for at, text in enumerate(case["said"])]
        yield case["question"], said, case["fits"]


def _fits(text: str, wanted: Sequence[str], unwanted: Sequence[str]) -> bool:
    folded = f" {text.lower()} "
    return all(word.lower() in folded for word in wanted) and not any(
        re.search(rf"\b{word.strip().lower()}\b", folded) for word in unwanted
    )


def build_topic(cases: Sequence[Any]) -> Iterator[Labelled]:
    """Every turn with its own answer, with that of the next conversation, and with that of the turn before."""
    for index, case in enumerate(cases):
        other = cases[(index + 1) % len(cases)]
        for number in range(len(case["turns"])):
            turns = [(question, answer) for question, answer in case["turns"][: number + 1]]
            yield turns, True
            yield [*turns[:-1], (turns[-1][0], other["turns"][number][1])], False
            if number:  # the answer of the turn before, once more
                yield [*turns[:-1], (turns[-1][0], turns[-2][1])], False


def build_knowledge(cases: Sequence[Any]) -> Iterator[Labelled]:
    """Conversations as they are, with an answer repeated in other words, and with one contradicted."""
    for case in cases:
        turns = [(question, answer) for question, answer in case["turns"]]
        yield turns, True
        yield [*turns, tuple(case["repeat"])], True
        yield [*turns, tuple(case["contradict"])], False


def build_goals(cases: Sequence[Any], language: str) -> Iterator[Labelled]:
    """Goals reached at once or after a question back; put off, missed, or never answered."""
    for index, case in enumerate(cases):
        turns = [(question, answer) for question, answer in case["turns"]]
        (first, answer), missed = turns[0], tuple(case["missed"])
        back, reply = CLARIFICATIONS[language]
        other = cases[(index + 1) % len(cases)]["turns"][0][1]
        yield turns, True
        yield [(first, back), (reply, answer)], True
        yield [(first, DEFERRALS[language]), missed], False
        yield [(first, other), missed], False


def judge_topic(turns: Sequence[Turn], language: str) -> bool | None:
    """Whether the last turn keeps to its question, by the embedded judge."""
    return keeps_topic(read_turns(_to_values(turns)["turns"], language)[-1], language)


def judge_reworded(turns: Sequence[Turn], language: str) -> bool | None:
    """The same with the question made to stand alone."""
    question = make_standalone(turns[-1][0], _to_messages(turns[:-1]), language)
    if question is None:
        return None
    return is_refusal(turns[-1][1], language) or _measure(question, turns[-1][1], language)


def judge_knowledge(turns: Sequence[Turn], language: str) -> bool | None:
    """Whether no turn contradicts another, by the embedded judge."""
    verdicts = [row["contradicts"] for row in answer_turns(_to_values(turns), language)["turns"]]
    return None if None in verdicts else not any(verdicts)


def judge_goal(turns: Sequence[Turn], language: str) -> bool | None:
    """Whether the goal is reached, by the embedded judge."""
    return bool(find_goal({**_to_values(turns), "goal": None}, language)["turn"])


def has_no_other_figure(turns: Sequence[Turn]) -> bool:
    """Whether every figure of the last answer was said before, or it has none: the simplest rule of contradiction."""
    said = set(_FIGURE.findall(" ".join(answer for _, answer in turns[:-1])))
    return set(_FIGURE.findall(turns[-1][1])) <= said


def print_table(
    name: str, cases: Sequence[Labelled], ways: dict[str, Callable[[list[Turn]], bool | None]]
) -> None:
    """Print balanced accuracy, false alarms on healthy conversations and abstentions of each way."""
    for way, judge in ways.items():
        verdicts = [(judge(turns), is_good) for turns, is_good in cases]
        told = [(verdict, is_good) for verdict, is_good in verdicts if verdict is not None]
        good = [verdict for verdict, is_good in told if is_good]
        bad = [not verdict for verdict, is_good in told if not is_good]
        hits, seen = sum(good) / len(good), sum(bad) / len(bad)
        print(
            f"  {name}, {way}: balanced accuracy {(hits + seen) / 2:.2f} "
            f"({sum(good)} of {len(good)} good and {sum(bad)} of {len(bad)} bad seen, "
            f"{len(verdicts) - len(told)} of {len(verdicts)} left open)"
        )


def _measure(question: str, answer: str, language: str) -> bool:
    return compute_chance(question, answer, language) >= ADDRESS_BAR


def _to_messages(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [pair for q, a in turns for pair in (("user", q), ("assistant", a))]


def _to_values(turns: Sequence[Turn]) -> dict[str, Any]:
    return {
        "turns": [
            {"id": f"n{n}", "question": question, "answer": answer}
            for n, (question, answer) in enumerate(turns, 1)
        ]
    }


_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")

if __name__ == "__main__":
    main()
