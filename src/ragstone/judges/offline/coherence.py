"""The `rate` Ask by stated rules: the form of a text. What a rubric of the user's own asks for, no
rule here can read. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.errors import JudgeFailed
from ragstone.judges.offline.reading import NEGATION, STOP, Reading, read
from ragstone.locale.messages import compose
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text


def answer_rate(values: Mapping[str, Any], language: str | None) -> Any:
    """The level of coherence that the rules give, and what took something off; JudgeFailed for any
    other rubric."""
    if values["name"] != "coherence":
        raise JudgeFailed("unsupported", "rubric_unsupported", name=values["name"])
    text = values["texts"].get("answer") or next(iter(values["texts"].values()), "")
    share, faults = measure_form(text, language)
    reason = compose("rubric_faults", faults=tuple(faults)) if faults else compose("no_rule_fault")
    return {"level": int(share * (len(values["levels"]) - 1) + 0.5), "reason": reason}


def measure_form(text: str, language: str | None) -> tuple[float, list[str]]:
    """How well a text is built, 0..1, and its faults: no sentences, repetition, contradiction, a
    cut-off end."""
    parts = [text[a:b] for a, b in split_sentences(text, language)]
    readings = [read(part, language) for part in parts]
    words = sum(len(reading.words) for reading in readings)
    if not words:
        return 0.0, [compose("no_words")]
    lost: list[tuple[float, str]] = []
    stops = sum(word.kind == STOP for reading in readings for word in reading.words)
    if words >= 8 and stops < 0.15 * words:
        lost.append((0.6, compose("few_function_words")))
    if words >= 12 and _is_jumbled(readings):
        lost.append((0.75, compose("words_out_of_order")))
    repeated = len(parts) - len({fold_text(part) for part in parts})
    if repeated:
        lost.append((0.25 * min(repeated, 3), compose("sentences_repeated", n=repeated)))
    if _contradicts_itself(readings):
        lost.append((0.5, compose("sentence_denies_another")))
    if words >= 8 and not text.rstrip().endswith((".", "!", "?", "”", '"', ")", "]", ":", "。")):
        lost.append((0.25, compose("end_cut_off")))
    return max(0.0, 1.0 - sum(amount for amount, _ in lost)), [fault for _, fault in lost]


def _is_jumbled(readings: Sequence[Reading]) -> bool:
    """Whether function words stand side by side or at the end more than sentences allow."""
    odd = places = 0
    for reading in readings:
        stops = [word.kind == STOP for word in reading.words]
        if len(stops) > 6:
            odd += sum(all(stops[n : n + 4]) for n in range(len(stops) - 3)) + 2 * stops[-1]
            places += len(stops)
    return places > 0 and odd / places > 0.08


def _contradicts_itself(readings: Sequence[Reading]) -> bool:
    """Whether two sentences say the same words, one of them denied."""
    said = [
        (
            {word.key for word in reading.words if word.kind not in (STOP, NEGATION)},
            any(word.kind == NEGATION for word in reading.words),
        )
        for reading in readings
    ]
    return any(
        denies != other_denies and len(own) >= 3 and len(own & other) >= 0.8 * len(own | other)
        for n, (own, denies) in enumerate(said)
        for other, other_denies in said[n + 1 :]
    )
