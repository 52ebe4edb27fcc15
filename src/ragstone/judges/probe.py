"""The probe: twelve questions with known answers that show whether a judge is good enough to gate on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.asks import Answered, Ask, Case, Reply, aspects, claims, rate, support, useful
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge
from ragstone.types import NO_USAGE, Chunk, Usage

CALLS_PER_SAMPLE = 5
"""Asks that the five default judged metrics put for one sample, for the price of 1,000 samples."""

MIN_REPLIES = 11
MIN_CORRECT = 10
MIN_CONSISTENT = 11
"""Of twelve items; below any of these a judge is not fit to gate on."""


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """A question whose answer is known."""

    text: str
    ask: Ask
    read_verdict: Callable[[Any], str]
    """Returns the verdict in the value of a reply."""
    truth: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The verdicts on one item, asked twice; empty when the judge failed."""

    item: ProbeItem
    first: str
    second: str
    failure: str = ""

    @property
    def is_correct(self) -> bool:
        """Whether the first verdict is the true one."""
        return self.first == self.item.truth


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """Results of a judge on the twelve items."""

    judge: str
    language: str
    results: tuple[ProbeResult, ...]
    usage: Usage
    seconds: float

    @property
    def reply_count(self) -> int:
        """Items with a usable first reply."""
        return sum(bool(result.first) for result in self.results)

    @property
    def correct_count(self) -> int:
        """Items with the true verdict."""
        return sum(result.is_correct for result in self.results)

    @property
    def consistent_count(self) -> int:
        """Items with the same verdict both times."""
        return sum(bool(r.first) and r.first == r.second for r in self.results)

    @property
    def is_fit(self) -> bool:
        """Whether the judge may decide a gate."""
        return (
            self.reply_count >= MIN_REPLIES
            and self.correct_count >= MIN_CORRECT
            and self.consistent_count >= MIN_CONSISTENT
        )

    @property
    def usd_per_1000_samples(self) -> float:
        """Price of 1,000 samples with the usual five metrics."""
        return self.usage.usd / max(1, self.usage.calls) * CALLS_PER_SAMPLE * 1000


async def probe_judge(judge: Judge, language: str) -> ProbeReport:
    """Ask the twelve items twice and collect the verdicts."""
    items = build_probes(language)
    asks = [replace(item.ask, repeat=n) for n in range(2) for item in items]
    slots = asyncio.Semaphore(judge.concurrency)

    async def answer(ask: Ask) -> Answered:
        async with slots:
            return (await judge.answer([ask]))[0]

    started = time.monotonic()
    answers = await asyncio.gather(*map(answer, asks))
    seconds = time.monotonic() - started
    first_round, second_round = answers[: len(items)], answers[len(items) :]
    results = tuple(
        ProbeResult(
            item,
            _read_verdict(item, a),
            _read_verdict(item, b),
            _describe_failure(a) or _describe_failure(b),
        )
        for item, a, b in zip(items, first_round, second_round, strict=True)
    )
    usage = sum((a.usage for a in answers if isinstance(a, Reply)), NO_USAGE)
    return ProbeReport(judge.name, language, results, usage, seconds)


def build_probes(language: str) -> list[ProbeItem]:
    """Return the twelve items, in Spanish for Spanish and in English otherwise."""
    words = _ES if language.lower().startswith("es") else _EN
    code = "es" if words is _ES else "en"
    sources = [Chunk(text=text) for text in words["sources"]]
    items = [
        ProbeItem(
            claim, support(Case((claim,), tuple(sources)), language=code), _read_support, truth
        )
        for claim, truth in words["claims"]
    ]
    for passage, truth in words["passages"]:
        ask = useful(words["question"], [Chunk(text=passage)], {"question": None}, language=code)
        items.append(ProbeItem(passage, ask, _read_grade, truth))
    question, answer = words["half"]
    items.append(
        ProbeItem(answer, aspects(question, answer, language=code), _read_coverage, "half")
    )
    items.append(ProbeItem(words["two"], claims(words["two"], language=code), _count_claims, "2"))
    # the scale: name, question and levels
    rude = rate({"answer": words["rude"]}, *words["scale"], language=code)
    items.append(ProbeItem(words["rude"], rude, lambda value: str(value["level"]), "0"))
    return items


def _read_verdict(item: ProbeItem, answered: Answered) -> str:
    return item.read_verdict(answered.value) if isinstance(answered, Reply) else ""


def _describe_failure(answered: Answered) -> str:
    if isinstance(answered, JudgeFailed):
        return f"{answered.kind}: {answered.reason}"
    return answered.reason if isinstance(answered, OutOfBudget) else ""


def _read_support(value: Any) -> str:
    return str(value["verdicts"][0]["verdict"])


def _read_grade(value: Any) -> str:
    return "useful" if value["grades"][0]["grade"] else "useless"


def _read_coverage(value: Any) -> str:
    covered: Sequence[bool] = [row["covered"] for row in value["aspects"]]
    return "half" if any(covered) and not all(covered) else "all" if all(covered) else "none"


def _count_claims(value: Any) -> str:
    return str(len(value["claims"]))


_EN: dict[str, Any] = {
    "sources": [
        "The library in Mill Street opens at nine and closes at eight, except on Sundays, when it is closed. "
        "It was built in 1931 by the architect Ada Holm.",
        "Readers may borrow up to ten books for three weeks. A lost card costs five euros.",
    ],
    "claims": [
        ("The library was built in 1931.", "supported"),
        ("Ada Holm designed the library in Mill Street.", "supported"),
        ("A reader may borrow ten books at a time.", "supported"),
        ("The library opens at ten.", "contradicted"),
        ("The library is open on Sundays.", "contradicted"),
        ("A lost card costs fifteen euros.", "contradicted"),
        ("The library owns 40,000 books.", "not_found"),
    ],
    "question": "How much does a new library card cost if I lose mine?",
    "passages": [
        ("Readers who lose their card pay five euros for a new one.", "useful"),
        ("The harbour was widened in 1958 to let larger ferries in.", "useless"),
    ],
    "half": ("When does the library open, and who built it?", "The library opens at nine o'clock."),
    "two": "The library opens at nine. A lost card costs five euros.",
    "rude": "Read the sign yourself, you fool, and stop wasting my time.",
    "scale": ("politeness", "Is the answer polite?", ["rude", "neutral", "polite"]),
}

_ES: dict[str, Any] = {
    "sources": [
        "La biblioteca de la calle del Molino abre a las nueve y cierra a las ocho, salvo los domingos, cuando está cerrada. "
        "La construyó en 1931 la arquitecta Ada Holm.",
        "Los lectores pueden llevarse hasta diez libros durante tres semanas. Un carné perdido cuesta cinco euros.",
    ],
    "claims": [
        ("La biblioteca se construyó en 1931.", "supported"),
        ("Ada Holm fue la arquitecta de la biblioteca de la calle del Molino.", "supported"),
        ("Un lector puede llevarse diez libros a la vez.", "supported"),
        ("La biblioteca abre a las diez.", "contradicted"),
        ("La biblioteca abre los domingos.", "contradicted"),
        ("Un carné perdido cuesta quince euros.", "contradicted"),
        ("La biblioteca tiene 40.000 libros.", "not_found"),
    ],
    "question": "¿Cuánto cuesta un carné nuevo de la biblioteca si pierdo el mío?",
    "passages": [
        ("Los lectores que pierden su carné pagan cinco euros por uno nuevo.", "useful"),
        ("El puerto se amplió en 1958 para que entraran barcos más grandes.", "useless"),
    ],
    "half": ("¿Cuándo abre la biblioteca y quién la construyó?", "La biblioteca abre a las nueve."),
    "two": "La biblioteca abre a las nueve. Un carné perdido cuesta cinco euros.",
    "rude": "Lea usted el cartel, idiota, y deje de hacerme perder el tiempo.",
    "scale": ("cortesía", "¿Es cortés la respuesta?", ["grosera", "neutra", "cortés"]),
}
