"""A sample's claims and what its sources say of them, read from a judge's replies and checked row by row.

The same text is always split by the same Ask and the same claims checked against the same sources by the same Ask,
so every metric that needs them shares one reply.

A claim counts as supported only with a quote that stands in the source: a `supported` verdict without one becomes
`not_found`, marked `verified=False`. When two or more claims are called supported and not one quote can be found, the
judge does not read its sources, whatever it says, and the outcome is `judge_error: compromised`: neither the judge's
number nor 0 would be true. A reply with ids that are missing, repeated or invented is `judge_error: incomplete`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import Any, NamedTuple, TypeVar

from ragstone.asks import Ask, Asking, Case, ask, support, together
from ragstone.asks import claims as split
from ragstone.errors import JudgeFailed, MissingField, NotApplicable, Unscored
from ragstone.locale.messages import compose
from ragstone.text.evidence import find_quote
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text
from ragstone.types import Chunk, Finding, Ranked, Verdict

T = TypeVar("T")


class Claim(NamedTuple):
    """One atomic statement of a text."""

    text: str
    sentence: int
    """Index of the sentence it comes from."""
    span: tuple[int, int]
    """Where that sentence stands in the text."""


class EvidenceQuote(NamedTuple):
    """A quote that a judge gave for its verdict."""

    source: int
    """Index of the source it is said to come from."""
    quote: str
    span: tuple[int, int] | None
    """Where it stands in that source; None when it does not."""


class CheckedClaim(NamedTuple):
    """A claim with the verdict that counts, and why."""

    claim: Claim
    verdict: Verdict
    reason: str = ""
    evidence: tuple[EvidenceQuote, ...] = ()
    verified: bool | None = None
    """Whether a quote stands in its source; None when there was none to check."""

    def to_finding(self, sources: Sequence[Chunk], verdict: str | None = None) -> Finding:
        """The claim as evidence behind a score; `verdict` says it in the metric's own word."""
        shown = next((e for e in self.evidence if e.span), next(iter(self.evidence), None))
        start, end = shown.span if shown and shown.span else (None, None)
        return Finding(
            text=self.claim.text,
            verdict=verdict or self.verdict,
            reason=self.reason,
            chunk=sources[shown.source].id if shown else "",
            quote=shown.quote if shown else "",
            start=start,
            end=end,
            verified=self.verified,
            span=self.claim.span,
        )


def split_claims(text: str, what: str, language: str | None) -> Asking[list[Claim]]:
    """The claims of a text; `what` it is ("answer") is named when it makes none."""
    if not text.strip():
        raise NotApplicable("empty_field", field=what)
    found = _read_claims_cached((yield from ask(_build_split_ask(text, language))), text, language)
    if not found:
        raise NotApplicable("no_claims", field=what)
    return found


def check_claims(
    claims: Sequence[Claim], sources: Sequence[Chunk], language: str | None
) -> Asking[list[CheckedClaim]]:
    """Each claim against the sources, in order; without a source nothing is found and nothing is asked."""
    if not sources:
        return [CheckedClaim(claim, "not_found", compose("no_text_to_support")) for claim in claims]
    case = Case(tuple(_list_distinct(claims)), tuple(sources))
    return read_verdicts((yield from ask(_build_support_ask(case, language))), claims, sources)


# A sample's metrics ask the same questions one after the other: the Ask, its key and the sentences are made once.
@lru_cache(maxsize=64)
def _build_split_ask(text: str, language: str | None) -> Ask:
    return split(text, language=language)


@lru_cache(maxsize=64)
def _build_support_ask(case: Case, language: str | None) -> Ask:
    return support(case, language=language)


def run_together(*generators: Asking[T]) -> Asking[list[T]]:
    """The results of several generators whose questions share rounds; the first outcome raised ends it."""
    results = yield from together(*generators)
    for one in results:
        if isinstance(one, Unscored):
            raise one
    return [one for one in results if not isinstance(one, Unscored)]


def name_chunks(contexts: Ranked) -> list[Chunk]:
    """The chunks, each with a name to show: its id, or its rank when it has none."""
    if contexts and all(chunk.id and not chunk.text for chunk in contexts):
        raise MissingField("contexts_without_text")
    return [
        chunk if chunk.id else Chunk(str(rank), chunk.text)
        for rank, chunk in enumerate(contexts, 1)
    ]


def list_sources(contexts: Ranked) -> list[Chunk]:
    """The chunks that have something to read."""
    return [chunk for chunk in name_chunks(contexts) if chunk.text.strip()]


def _read_claims_cached(reply: Any, text: str, language: str | None) -> list[Claim]:
    """`read_claims`, kept while the metrics of a sample that asked the same are sent the same reply."""
    known = _claims_by_reply.get(id(reply))
    if known is not None and known[0] is reply and known[1:3] == (text, language):
        return known[3]
    found = read_claims(reply, text, language)
    if len(_claims_by_reply) >= _MAX_CACHED_REPLIES:
        _claims_by_reply.clear()
    # the reply is kept beside what was read of it, so that no other object can take over its id
    _claims_by_reply[id(reply)] = (reply, text, language, found)
    return found


_claims_by_reply: dict[int, tuple[Any, str, str | None, list[Claim]]] = {}
_MAX_CACHED_REPLIES = 64


def read_claims(reply: Any, text: str, language: str | None) -> list[Claim]:
    """The claims in the reply to `claims(text)`; the same one twice in a sentence counts once."""
    spans = split_sentences(text, language)
    found: dict[tuple[int, str], Claim] = {}
    for row in read_rows(reply, "claims", text_id=str, sentence=int, claim=str):
        number, claim = row["sentence"], row["claim"].strip()
        if row["text_id"] != "t1" or not 0 <= number < len(spans):
            raise JudgeFailed(
                "incomplete",
                "claim_outside_text",
                sentence=number,
                text=row["text_id"],
            )
        if not claim:
            raise JudgeFailed("unparseable", "claim_empty")
        found.setdefault((number, fold_text(claim)), Claim(claim, number, spans[number]))
    return sorted(found.values(), key=lambda claim: claim.sentence)


def read_verdicts(
    reply: Any, claims: Sequence[Claim], sources: Sequence[Chunk]
) -> list[CheckedClaim]:
    """What the reply to `support` says of each claim, quotes checked."""
    ids = {text: f"c{n}" for n, text in enumerate(_list_distinct(claims), 1)}
    rows = index_rows(
        read_rows(reply, "verdicts", id=str, verdict=str, evidence=list, reason=str),
        "id",
        ids.values(),
    )
    checked = [_check_claim(claim, rows[ids[claim.text]], sources) for claim in claims]
    said = [one for one in checked if rows[ids[one.claim.text]]["verdict"] == "supported"]
    require_quotes(sum(one.verified is True for one in said), len(said))
    return checked


def require_quotes(verified: int, said: int) -> None:
    """Refuse a judge that calls two or more things found and can quote none of them."""
    if said >= 2 and not verified:
        raise JudgeFailed("compromised", "no_quote_found", n=said)


def _check_claim(claim: Claim, row: Mapping[str, Any], sources: Sequence[Chunk]) -> CheckedClaim:
    verdict, reason = row["verdict"], row["reason"]
    if verdict == "not_found":
        return CheckedClaim(claim, "not_found", reason)
    evidence = tuple([_locate_quote(piece, sources) for piece in row["evidence"]])
    verified = any(piece.span for piece in evidence)
    if verdict == "contradicted":
        return CheckedClaim(claim, "contradicted", reason, evidence, verified if evidence else None)
    if verdict != "supported":
        raise JudgeFailed("unparseable", "verdict_unknown", verdict=verdict)
    if not verified:
        lack = "quote_not_in_source" if evidence else "support_without_quote"
        reason = compose(f"{lack}_explained", reason=reason) if reason else compose(lack)
        return CheckedClaim(claim, "not_found", reason, evidence, verified=False)
    return CheckedClaim(claim, "supported", reason, evidence, verified=True)


def _locate_quote(piece: Any, sources: Sequence[Chunk]) -> EvidenceQuote:
    known = piece.__class__ is dict or isinstance(piece, Mapping)
    source, quote = (piece.get("source"), piece.get("quote")) if known else (None, None)
    if not isinstance(source, str) or not isinstance(quote, str):
        raise JudgeFailed("unparseable", "evidence_malformed", evidence=repr(piece))
    at = _index_sources(len(sources)).get(source)
    if at is None:
        raise JudgeFailed("incomplete", "source_unknown", source=source)
    return EvidenceQuote(at, quote, find_quote(quote, sources[at].text))


@lru_cache(maxsize=64)
def _index_sources(count: int) -> Mapping[str, int]:
    """Index of each of so many sources by its id."""
    return {f"k{n}": n - 1 for n in range(1, count + 1)}


def _list_distinct(claims: Sequence[Claim]) -> list[str]:
    return list(dict.fromkeys(claim.text for claim in claims))


def read_rows(reply: Any, field: str, **types: type) -> list[Mapping[str, Any]]:
    """The rows in a reply's field, each with fields of these types."""
    rows = reply.get(field) if isinstance(reply, Mapping) else None
    if not isinstance(rows, list):
        raise JudgeFailed("unparseable", "reply_without_rows", rows=field)
    wanted = types.items()
    for row in rows:
        fits = row.__class__ is dict or isinstance(row, Mapping)
        for key, kind in wanted if fits else ():
            value = row.get(key)
            if value.__class__ is not kind and not _has_type(value, kind):
                fits = False
        if not fits:
            raise JudgeFailed("unparseable", "row_malformed", rows=field, row=f"{row!r:.80}")
    return rows


def _has_type(value: Any, kind: type) -> bool:
    """Whether the value is of the type; a truth value is no number, though Python's bool is an int."""
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def index_rows(
    rows: Sequence[Mapping[str, Any]], key: str, wanted: Iterable[str]
) -> dict[str, Mapping[str, Any]]:
    """The rows by their ids, which are the wanted ones, each exactly once."""
    expected = list(wanted)
    found = {row[key]: row for row in rows}
    if len(rows) != len(expected) or found.keys() != set(expected):
        raise JudgeFailed(
            "incomplete",
            "items_miscounted",
            asked=len(expected),
            replied=len(rows),
            right=len(found.keys() & set(expected)),
        )
    return found


def compute_cosines(reply: Any, count: int) -> list[float]:
    """Cosine of the first of `count` embedded texts with each of the others, clipped to 0..1."""
    vectors = reply.get("vectors") if isinstance(reply, Mapping) else None
    if not isinstance(vectors, list) or len(vectors) != count:
        raise JudgeFailed("unparseable", "vectors_miscounted", n=count)
    first, *others = (_measure_vector(vector) for vector in vectors)
    if any(len(other[0]) != len(first[0]) for other in others):
        raise JudgeFailed("unparseable", "vectors_of_unlike_length")
    return [_cosine(first, other) for other in others]


MeasuredVector = tuple[Sequence[float], float]
"""A vector and its length."""


def _cosine(one: MeasuredVector, other: MeasuredVector) -> float:
    product: float = sum(map(mul, one[0], other[0]))
    return min(1.0, max(0.0, product / one[1] / other[1]))


def _measure_vector(vector: Any) -> MeasuredVector:
    """The vector with its length; one whose squares could overflow or vanish is brought to a middle size first."""
    if isinstance(vector, list):
        try:
            length = math.hypot(*vector)
        except (TypeError, ValueError, OverflowError):
            length = math.nan
        if 1e-100 < length < 1e100:
            return vector, length
    try:
        numbers = [float(x) for x in vector]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    largest = max(map(abs, numbers), default=0.0)
    if not largest or not all(map(math.isfinite, numbers)):
        raise JudgeFailed("unparseable", "vector_null")
    scaled = [x / largest for x in numbers]
    return scaled, math.hypot(*scaled)
