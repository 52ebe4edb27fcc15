"""Twelve questions of known truth: whether a judge is fit to decide anything, before it is paid to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.asks import Answered, Ask, Case, Reply, aspects, claims, rate, support, useful
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge
from ragstone.types import NOTHING_USED, Chunk, Usage

CALLS_PER_SAMPLE = 5
"""Questions that the usual five judged metrics put for one sample; what "1,000 samples" is reckoned with."""

MIN_REPLIES = 11
MIN_CORRECT = 10
MIN_CONSISTENT = 11
"""Of twelve; below any of these a judge is not fit to gate on."""


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """A question whose answer is known."""

    text: str
    ask: Ask
    read_verdict: Callable[[Any], str]
    """What the reply comes down to."""
    truth: str


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What came of one item, asked twice."""

    item: ProbeItem
    first: str
    second: str
    failure: str = ""

    @property
    def is_correct(self) -> bool:
        """Whether the first reply was the true one."""
        return self.first == self.item.truth


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """How a judge did on the twelve."""

    judge: str
    language: str
    results: tuple[ProbeResult, ...]
    usage: Usage
    seconds: float

    @property
    def reply_count(self) -> int:
        """Items with a usable first reply."""
        return sum(bool(one.first) for one in self.results)

    @property
    def correct_count(self) -> int:
        """Items answered truly."""
        return sum(one.is_correct for one in self.results)

    @property
    def consistent_count(self) -> int:
        """Items answered alike both times."""
        return sum(bool(one.first) and one.first == one.second for one in self.results)

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
    """Put the twelve items twice and count."""
    items = build_probes(language)
    asks = [replace(i.ask, repeat=n) for n in range(2) for i in items]
    gate = asyncio.Semaphore(judge.concurrency)

    async def one(ask: Ask) -> Answered:
        async with gate:
            return (await judge.answer([ask]))[0]

    started = time.monotonic()
    answered = await asyncio.gather(*map(one, asks))
    seconds = time.monotonic() - started
    firsts, seconds_ = answered[: len(items)], answered[len(items) :]
    tried = tuple(
        ProbeResult(item, _came_to(item, a), _came_to(item, b), _failure(a) or _failure(b))
        for item, a, b in zip(items, firsts, seconds_, strict=True)
    )
    usage = sum((a.usage for a in answered if isinstance(a, Reply)), NOTHING_USED)
    return ProbeReport(judge.name, language, tried, usage, seconds)


def build_probes(language: str) -> list[ProbeItem]:
    """The twelve items in a language that has them; English otherwise."""
    words = _ES if language.lower().startswith("es") else _EN
    code = "es" if words is _ES else "en"
    sources = [Chunk(text=text) for text in words["sources"]]
    items = [
        ProbeItem(claim, support(Case((claim,), tuple(sources)), language=code), _verdict, truth)
        for claim, truth in words["claims"]
    ]
    for passage, truth in words["passages"]:
        ask = useful(words["question"], [Chunk(text=passage)], {"question": None}, language=code)
        items.append(ProbeItem(passage, ask, _grade, truth))
    question, answer = words["half"]
    items.append(ProbeItem(answer, aspects(question, answer, language=code), _half, "half"))
    items.append(ProbeItem(words["two"], claims(words["two"], language=code), _count, "2"))
    rude = rate({"answer": words["rude"]}, *words["scale"], language=code)
    items.append(ProbeItem(words["rude"], rude, lambda value: str(value["level"]), "0"))
    return items


def _came_to(item: ProbeItem, answered: Answered) -> str:
    return item.read_verdict(answered.value) if isinstance(answered, Reply) else ""


def _failure(answered: Answered) -> str:
    if isinstance(answered, JudgeFailed):
        return f"{answered.kind}: {answered.reason}"
    return answered.reason if isinstance(answered, OutOfBudget) else ""


def _verdict(value: Any) -> str:
    return str(value["verdicts"][0]["verdict"])


def _grade(value: Any) -> str:
    return "useful" if value["grades"][0]["grade"] else "useless"


def _half(value: Any) -> str:
    covered: Sequence[bool] = [row["covered"] for row in value["aspects"]]
    return "half" if any(covered) and not all(covered) else "all" if all(covered) else "none"


def _count(value: Any) -> str:
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
    "half": (
        "When does the library open, and who built it?",
        "The library opens at nine o'clock.",
    ),
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
    "half": (
        "¿Cuándo abre la biblioteca y quién la construyó?",
        "La biblioteca abre a las nueve.",
    ),
    "two": "La biblioteca abre a las nueve. Un carné perdido cuesta cinco euros.",
    "rude": "Lea usted el cartel, idiota, y deje de hacerme perder el tiempo.",
    "scale": ("cortesía", "¿Es cortés la respuesta?", ["grosera", "neutra", "cortés"]),
}
