"""The data types that every package shares: samples in, scores out. All are immutable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from ragstone.errors import DataError, JudgeFault
from ragstone.locale.messages import Argument, arguments_of, code_of
from ragstone.locale.tags import TAG_HINT, to_language_tag

OutcomeKind = Literal[
    "ok",
    "not_applicable",
    "missing_field",
    "judge_error",
    "system_error",
    "skipped_budget",
    "metric_error",
]
"""Outcome of scoring one sample with one metric."""

OUTCOMES: tuple[OutcomeKind, ...] = get_args(OutcomeKind)

FAILURES: frozenset[OutcomeKind] = frozenset(
    {"judge_error", "system_error", "skipped_budget", "metric_error"}
)
"""Outcomes of samples that should have been scored and were not: they count against coverage."""

Verdict = Literal["supported", "contradicted", "not_found"]
"""Verdict of a judge on one claim against its sources."""

EMPTY: Mapping[str, Any] = MappingProxyType({})
"""An empty mapping that nobody can change, so that it can be shared as a default."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved text with its document id; either may be empty, not both."""

    id: str = ""
    text: str = ""
    score: float | None = None
    """The retriever's own score, if it was recorded."""


class Ranked(tuple[Chunk, ...]):
    """Chunks in the order they were retrieved, best first."""

    __slots__ = ()

    @property
    def ids(self) -> list[str]:
        """Document ids in ranked order, repetitions included."""
        return [chunk.id for chunk in self]

    @property
    def texts(self) -> list[str]:
        """Texts in ranked order."""
        return [chunk.text for chunk in self]


def chunks(*items: str | Chunk | Mapping[str, Any]) -> Ranked:
    """Build ranked chunks from document ids, Chunks or `{"id", "text"}` mappings."""
    return Ranked(
        item
        if isinstance(item, Chunk)
        else Chunk(id=item)
        if isinstance(item, str)
        else Chunk(**item)
        for item in items
    )


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation."""

    role: str
    """user, assistant, system or tool."""
    content: str


Dialogue = tuple[ChatMessage, ...]
"""The messages of a conversation, oldest first."""


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A call of a tool that a system made, or should make, on the way to its answer."""

    tool: str
    arguments: Mapping[str, Any] | None = None
    """None: not recorded, or, of an expected call, any."""
    result: str | None = None
    error: str | None = None
    """Why the call failed; None when it did not."""
    seconds: float | None = None


Steps = tuple[ToolStep, ...]
"""Tool calls in the order they were made."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with the output of the system under test and the expected output.

    None means "not given"; empty `contexts` mean "nothing was retrieved", which is a defined case."""

    id: str
    question: str | None = None
    answer: str | None = None
    contexts: Ranked | None = None
    """Ranked chunks; None when the data has no retrieval."""
    reference: str | None = None
    """The expected answer."""
    relevant: Mapping[str, float] | None = None
    """Document id → grade; 1 = relevant, 0 = judged not relevant, above 1 = more relevant."""
    language: str | None = None
    """A language tag such as `es-MX`; anything else raises DataError."""
    group: str | None = None
    """Document or session: samples of one group are not independent."""
    meta: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    error: str | None = None
    """Why the system under test failed; metrics on its output end as `system_error`."""
    messages: Dialogue | None = None
    """The conversation before the question; empty when it begins with it, None when there is no conversation."""
    steps: Steps | None = None
    """Tool calls on the way to the answer; empty when the system made none, None when it is not known."""
    expected_steps: Steps | None = None

    def __post_init__(self) -> None:
        if self.language is not None:
            tag = to_language_tag(self.language) if isinstance(self.language, str) else None
            if tag is None:
                raise DataError(f"sample {self.id!r}: language {self.language!r}; {TAG_HINT}")
            object.__setattr__(self, "language", tag)


SAMPLE_FIELDS: tuple[str, ...] = tuple(Sample.__slots__)

SYSTEM_FIELDS: frozenset[str] = frozenset({"answer", "contexts", "steps"})
"""Fields that the system under test produces."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What the two judges of a cascade said of one item."""

    first: str
    """Verdict of the cheap judge; empty when it failed."""
    second: str
    """Verdict of the strong judge; empty when it was not asked."""
    chance: float
    """Chance with which the second was asked: 1 where the first was unsure."""
    probability: float | None = None
    """Chance that the item is supported, from the first judge."""


UNCLEAR = (0.35, 0.65)
"""Probabilities from and up to which a finding is shown as unclear."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An item of evidence for a score: what was judged, the verdict, and the text that decides it."""

    text: str
    """The claim, aspect or chunk that was judged."""
    verdict: str
    reason: str = ""
    chunk: str = ""
    """Id of the chunk that decides it."""
    quote: str = ""
    """Verbatim text of that chunk."""
    start: int | None = None
    """Offset of the quote in the chunk."""
    end: int | None = None
    """Offset behind the quote in the chunk; None together with `start`."""
    verified: bool | None = None
    """Whether the quote occurs in the chunk; None when there is no quote."""
    span: tuple[int, int] | None = None
    """Start and end of the source of `text` in the answer (or other text that was split), if known."""
    probability: float | None = None
    """Chance that the item is supported, from a judge that states one: then it is what counts in the value."""
    opinion: SecondOpinion | None = None
    """Who decided it, when the judge is a cascade."""

    def get_chance(self, verdict: str) -> float:
        """Return the probability; from a judge that states none 1 if this is the verdict, else 0."""
        return float(self.verdict == verdict) if self.probability is None else self.probability

    @property
    def is_unclear(self) -> bool:
        """Whether the judge could not tell: shown in neither colour, and no failure."""
        return self.probability is not None and UNCLEAR[0] <= self.probability <= UNCLEAR[1]

    @property
    def shown_verdict(self) -> str:
        """The verdict as a reader sees it."""
        return "unclear" if self.is_unclear else self.verdict


@dataclass(frozen=True, slots=True)
class Usage:
    """Consumption of a judge in this run: calls, tokens, cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    hits: int = 0
    """Questions whose reply came from the store, paid for by an earlier run."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.usd + other.usd,
            self.hits + other.hits,
        )


NO_USAGE = Usage()

MAX_REPLY_COUNT = 10**9
"""Calls, tokens or USD of one reply beyond which a report of usage is absurd."""


def clean_usage(usage: Any) -> Usage:
    """Return the usage that a judge reports of one reply, with 0 for each number that is impossible.

    Impossible: negative, not finite, above MAX_REPLY_COUNT, not a number. A single one would make the store fail, or
    every sum meaningless."""
    if not isinstance(usage, Usage):
        return NO_USAGE
    # the comparison is False for NaN, so this refuses it too
    is_price = isinstance(usage.usd, int | float) and 0 <= usage.usd <= MAX_REPLY_COUNT
    cleaned = Usage(
        to_count(usage.calls),
        to_count(usage.input_tokens),
        to_count(usage.output_tokens),
        usage.usd if is_price else 0.0,
        to_count(usage.hits),
    )
    return usage if usage == cleaned else cleaned


def to_count(value: Any) -> int:
    """Return the value if it can be the count of something in one reply, else 0."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MAX_REPLY_COUNT else 0


@dataclass(frozen=True, slots=True)
class Score:
    """A finite number, or an outcome and the reason why there is none."""

    value: float | None = None
    outcome: OutcomeKind = "ok"
    reason: str = ""
    """Why there is no value, in English; empty when there is one. A Message (see locale/messages.py), unless it is the text of a
    judge, a system or a user."""
    kind: JudgeFault | None = None
    """How the judge failed, with `judge_error`."""
    label: str | None = None
    """Category of the sample, for metrics that also count categories."""
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    probability: float | None = None
    """Chance that every claim is supported: that of the least likely one, from a judge that states them."""

    def __post_init__(self) -> None:
        if self.outcome == "ok":
            if self.value is None or not math.isfinite(self.value):
                raise ValueError(f"a score is a finite number or an outcome, not {self.value!r}")
        elif self.value is not None:
            raise ValueError(f"{self.outcome!r} has no value, yet {self.value!r} was given")

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.outcome == "ok"

    @property
    def code(self) -> str:
        """The code of the reason; `custom` for a text that is not from the catalogue, empty when there is a value."""
        return code_of(self.reason)

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """What fills the placeholders of the reason's sentence."""
        return arguments_of(self.reason)


@lru_cache(maxsize=4096)
def to_score(value: float, warnings: tuple[str, ...] = ()) -> Score:
    """The Score of a value. Scores are immutable, and short rankings and texts have few values: equal ones share an object."""
    return Score(value, warnings=warnings)


def share(findings: Iterable[Finding], *verdicts: str) -> Score:
    """Score the share of findings with one of the verdicts; the findings are the evidence, and must not be empty."""
    items = tuple(findings)
    return Score(sum(finding.verdict in verdicts for finding in items) / len(items), findings=items)


VALUE_VERSION = 2
"""Version of what the value of a claim metric means: 1 counted verdicts, 2 sums probabilities where a judge states them."""

CLAIM_METRICS = frozenset(
    {
        "faithfulness", "hallucination_rate", "noise_sensitivity", "context_recall", "completeness",
        "answer_correctness", "citation_precision", "citation_recall", "citation_accuracy",
    }
)  # fmt: skip
"""Families of the metrics that count claims, whose value has that version; `overall` is made of some of them."""


def expected_share(findings: Iterable[Finding], verdict: str) -> Score:
    """Score the mean chance of the findings: the share that is expected to have this verdict.

    A finding counts with its probability, or as 1 or 0 from a judge that states none. Must not be empty."""
    items = tuple(findings)
    chances = [finding.get_chance(verdict) for finding in items]
    is_stated = all(finding.probability is not None for finding in items)
    return Score(
        sum(chances) / len(chances),
        findings=items,
        probability=min(chances) if is_stated else None,
    )
