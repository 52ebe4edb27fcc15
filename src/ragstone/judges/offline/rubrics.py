"""The `rate` Ask by stated rules: the form of a text, and how it meets the texts beside it. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ragstone.judges.offline.inquiry import compute_chance
from ragstone.judges.offline.question_kinds import split_question
from ragstone.judges.offline.reading import NEGATION, STOP, Reading, read
from ragstone.judges.offline.statements import statements
from ragstone.judges.offline.verdicts import judge_case
from ragstone.locale.messages import compose
from ragstone.text.encoder import encode
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text

_LINKS = frozenset(
    [
        "this",
        "that",
        "these",
        "those",
        "it",
        "they",
        "he",
        "she",
        "his",
        "her",
        "their",
        "its",
        "however",
        "therefore",
        "also",
        "then",
        "thus",
        "because",
        "so",
        "but",
        "first",
        "second",
        "finally",
        "moreover",
        "such",
        "which",
        "esto",
        "eso",
        "este",
        "esta",
        "estos",
        "estas",
        "ese",
        "esa",
        "además",
        "sin",
        "embargo",
        "también",
        "por",
        "tanto",
        "entonces",
        "luego",
        "así",
        "porque",
        "pero",
        "primero",
        "segundo",
        "finalmente",
        "su",
        "sus",
        "él",
        "ella",
        "ellos",
    ]
)
"""Words at the head of a sentence that refer back to the text before."""


def answer_rate(values: Mapping[str, Any], language: str | None) -> Any:
    """The level nearest to a share of 0..1 that the rules give, and the rules that took something off."""
    texts: Mapping[str, str] = values["texts"]
    main = texts.get("answer") or next((t for t in list(texts.values())[::-1] if t.strip()), "")
    share, faults = form(main, language)
    if "answer" in texts and len(texts) > 1:
        met, more = _met(texts, language)
        # what it says counts three times as much as its form
        share, faults = (share + 3 * met) / 4, faults + more
    top = len(values["levels"]) - 1
    return {
        "level": int(share * top + 0.5),
        "reason": compose("rubric_faults", faults=tuple(faults))
        if faults
        else compose("no_rule_fault"),
    }


def _find_word_faults(readings: list[Reading], words: int) -> list[tuple[float, str]]:
    """What the words themselves cost: too few function words, or no order."""
    faults: list[tuple[float, str]] = []
    stops = float(np.mean(np.concatenate([reading.kinds == STOP for reading in readings])))
    if words >= 8 and stops < 0.15:
        faults.append((0.6, compose("few_function_words")))
    if words >= 12 and _salad(readings):
        faults.append((0.75, compose("words_out_of_order")))
    return faults


def form(text: str, language: str | None) -> tuple[float, list[str]]:
    """How well a text is built, 0..1, and its faults: fragments, repetition, contradiction, lost thread."""
    parts = [text[a:b] for a, b in split_sentences(text, language)]
    readings = [read(part, language) for part in parts]
    if not any(len(one.ids) for one in readings):
        return 0.0, [compose("no_words")]
    words = sum(len(reading.ids) for reading in readings)
    lost = _find_word_faults(readings, words)
    repeated = len(parts) - len({fold_text(part) for part in parts})
    if repeated:
        lost.append((0.25 * min(repeated, 3), compose("sentences_repeated", n=repeated)))
    if _contradicts(readings):
        lost.append((0.5, compose("sentence_denies_another")))
    if words >= 8 and not text.rstrip().endswith((".", "!", "?", "”", '"', ")", "]", ":", "。")):
        lost.append((0.25, compose("end_cut_off")))
    jumps = _jumps(parts, readings)
    if jumps > 0.5:
        lost.append((0.25 if jumps < 0.8 else 0.5, compose("thread_lost")))
    return max(0.0, 1.0 - sum(amount for amount, _ in lost)), [fault for _, fault in lost]


def _salad(readings: list[Reading]) -> bool:
    """Whether function words stand side by side or at the end more than sentences allow."""
    odd = places = 0
    for one in readings:
        stop = one.kinds == STOP
        if len(stop) > 6:
            runs = stop[:-3] & stop[1:-2] & stop[2:-1] & stop[3:]
            odd += int(runs.sum()) + 2 * int(stop[-1])
            places += len(stop)
    return places > 0 and odd / places > 0.08


def _contradicts(readings: list[Reading]) -> bool:
    """Whether two sentences say the same words, one of them denied."""
    for n, one in enumerate(readings):
        for other in readings[n + 1 :]:
            mine = set(one.ids[(one.kinds != STOP) & (one.kinds != NEGATION)].tolist())
            theirs = set(other.ids[(other.kinds != STOP) & (other.kinds != NEGATION)].tolist())
            denied = bool((one.kinds == NEGATION).any()) != bool((other.kinds == NEGATION).any())
            if denied and len(mine) >= 3 and len(mine & theirs) >= 0.8 * len(mine | theirs):
                return True
    return False


def _jumps(parts: list[str], readings: list[Reading]) -> float:
    """Share of sentences that neither repeat a word of the text so far, nor link back, nor are alike."""
    if len(parts) < 2:
        return 0.0
    vectors = encode(parts)
    seen: set[int] = set(readings[0].ids[readings[0].kinds != STOP].tolist())
    jumps = 0
    for n in range(1, len(parts)):
        mine = set(readings[n].ids[readings[n].kinds != STOP].tolist())
        linked = bool(_LINKS & set(fold_text(parts[n]).split()[:6]))
        alike = float((vectors[:n] @ vectors[n]).max())
        jumps += not (mine & seen or linked or alike >= 0.25)
        seen |= mine
    return jumps / (len(parts) - 1)


def _met(texts: Mapping[str, str], language: str | None) -> tuple[float, list[str]]:
    """How the answer meets the question, the reference and the contexts that are shown with it."""
    answer = texts["answer"]
    parts = [answer[a:b] for a, b in split_sentences(answer, language)]
    if is_refusal(answer, language):
        return 0.0, [compose("answer_declines")]
    marks: list[float] = []
    reasons: list[str] = []
    if texts.get("question", "").strip():
        asked = split_question(texts["question"])
        chance = sum(compute_chance(part, answer, language) for part in asked) / len(asked)
        marks.append(chance)
        reasons.append(compose("addresses_part", chance=round(chance, 2)))
    claims = [one.text for part in parts for one in statements(part)] or [answer]
    for name in ("reference", "contexts"):
        if texts.get(name, "").strip():
            judged = judge_case([read(c, language) for c in claims], [read(texts[name], language)])
            supported = [claim.verdict == "supported" for claim in judged.claims]
            share = sum(supported) / len(supported)
            marks.append(share)
            reasons.append(compose(f"share_in_{name}", share=share))
    return (sum(marks) / len(marks), reasons) if marks else (1.0, [])
