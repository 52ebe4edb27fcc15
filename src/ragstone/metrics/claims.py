"""Claims of a text and their verification against sources, from the replies of a judge.

The same text is always split by the same Ask and the same claims checked against the same sources by the same Ask,
so every metric that needs them shares one reply.

A claim is supported only with a quote that occurs in the source and speaks of the claim: a `supported` verdict without
one becomes `not_found`, marked `verified=False`. When two or more claims are called supported and no quote occurs, the
judge does not read its sources and the outcome is `judge_error: compromised`: neither its verdicts nor a score of 0
would be true. A reply with ids that are missing, repeated or invented is `judge_error: incomplete`; so is a claim that
is not made of its own sentence, and two such claims are `compromised`. A claim that repeats another counts once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from ragstone.asks import Ask, Asking, Case, ask, support, together
from ragstone.asks import claims as split
from ragstone.errors import JudgeFailed, MissingField, NotApplicable, Unscored
from ragstone.locale.messages import compose
from ragstone.metrics.history import read_question
from ragstone.metrics.replies import index_rows, read_opinion, read_probability, read_rows
from ragstone.text.claim_checks import (
    find_quote_fault,
    find_quoted_sentence,
    is_of_sentence,
    is_rewording,
)
from ragstone.text.evidence import find_quote
from ragstone.text.sentences import split_cited_parts
from ragstone.text.words import fold_text, split_bare_words
from ragstone.types import Chunk, Dialogue, Finding, Ranked, SecondOpinion, Steps, Verdict

T = TypeVar("T")


class Claim(NamedTuple):
    """One atomic statement of a text."""

    text: str
    sentence: int
    """Index of the sentence it comes from; a sentence with several citations is cut after each of them."""
    span: tuple[int, int]
    """Start and end of that sentence in the text."""
    answer: str = ""
    """The bare answer that it was made of with its question; empty for a claim of a whole sentence."""


class EvidenceQuote(NamedTuple):
    """A quote that a judge gave for its verdict."""

    source: int
    """Index of the source that the judge named, in the list of sources that was asked about."""
    quote: str
    span: tuple[int, int] | None
    """Start and end of the quote in that source; None when it does not occur there."""


class CheckedClaim(NamedTuple):
    """A claim with its verdict after the quotes were verified."""

    claim: Claim
    verdict: Verdict
    reason: str = ""
    evidence: tuple[EvidenceQuote, ...] = ()
    verified: bool | None = None
    """Whether a quote occurs in its source; None when there was no quote to check."""
    probability: float | None = None
    """Chance that the sources support the claim, from a judge that knows one."""
    opinion: SecondOpinion | None = None
    """Who decided it, when the judge is a cascade."""

    @property
    def chance(self) -> float:
        """Chance that the sources support it; 1 or 0 from a judge that states none."""
        return float(self.verdict == "supported") if self.probability is None else self.probability

    def to_finding(self, sources: Sequence[Chunk], verdict: str | None = None) -> Finding:
        """Convert the claim to a finding of a score; `verdict` replaces the verdict by the metric's own term."""
        evidence = next(
            (quote for quote in self.evidence if quote.span), next(iter(self.evidence), None)
        )
        start, end = evidence.span if evidence and evidence.span else (None, None)
        return Finding(
            text=self.claim.text,
            verdict=verdict or self.verdict,
            reason=self.reason,
            chunk=sources[evidence.source].id if evidence else "",
            quote=evidence.quote if evidence else "",
            start=start,
            end=end,
            verified=self.verified,
            span=self.claim.span,
            probability=self.probability,
            opinion=self.opinion,
        )


def split_claims(
    text: str,
    field: str,
    language: str | None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[list[Claim]]:
    """Split a text into claims; `field` ("answer") is named in the outcome when there are none.

    A text that only names something ("France") is read as the answer to the question."""
    if not text.strip():
        raise NotApplicable("empty_field", field=field)
    split_ask = _build_split_ask(text, language, question)
    # the conversation matters only where the question itself goes into the claims
    if question and messages and {"question", "asked"} & split_ask.values["texts"][0].keys():
        question = yield from read_question(question, messages, language)
        split_ask = _build_split_ask(text, language, question)
    reply = yield from ask(split_ask)
    claims = _read_once(
        reply, (text, language), lambda: _read_split(reply, text, language, split_ask)
    )
    if not claims:
        raise NotApplicable("no_claims", field=field)
    return claims


def check_claims(
    claims: Sequence[Claim],
    sources: Sequence[Chunk],
    language: str | None,
    question: str | None = None,
) -> Asking[list[CheckedClaim]]:
    """Check the claims against the sources, in order, those that repeat others left out.

    `question` is the one that claims and sources answer, where one of them only names something."""
    checked = yield from check_every_claim(claims, sources, language, question)
    return _read_once(checked, (sources,), lambda: _drop_repeats(checked, sources))


def _drop_repeats(checked: list[CheckedClaim], sources: Sequence[Chunk]) -> list[CheckedClaim]:
    distinct: list[CheckedClaim] = []
    repeats = find_repeats(checked, sources)
    for index, claim in enumerate(checked):
        if index in repeats:
            continue
        times = 1 + sum(first == index for first in repeats.values())
        if times > 1:
            reason = compose("claim_repeated", times=times, reason=claim.reason)
            claim = claim._replace(
                reason=reason if claim.reason else compose("claim_again", times=times)
            )
        distinct.append(claim)
    return distinct


def check_every_claim(
    claims: Sequence[Claim],
    sources: Sequence[Chunk],
    language: str | None,
    question: str | None = None,
) -> Asking[list[CheckedClaim]]:
    """Check each claim against the sources, in order; without sources every claim is `not_found` and no judge is asked."""
    if not sources:
        return [CheckedClaim(c, "not_found", compose("no_text_to_support")) for c in claims]
    distinct = _list_distinct(claims)
    case = Case(tuple(distinct), tuple(sources), tuple(distinct.values()), question)
    reply = yield from ask(_build_support_ask(case, language))
    return _read_once(reply, (claims, sources), lambda: read_verdicts(reply, claims, sources))


def find_repeats(checked: Sequence[CheckedClaim], sources: Sequence[Chunk]) -> dict[int, int]:
    """Return the indexes of claims that repeat an earlier one, each with the index of that one."""
    repeats: dict[int, int] = {}
    first_of: dict[tuple[str, ...], int] = {}
    by_evidence: dict[tuple[str, str], list[int]] = {}
    for index, claim in enumerate(checked):
        text = claim.claim.text
        words = (claim.verdict, *split_bare_words(text))
        first = first_of.setdefault(words, index)
        if first != index:
            repeats[index] = first
            continue
        evidence = _find_evidence_sentence(claim, sources)
        if not evidence:
            continue
        # only claims that rest on the same sentence can be one in two wordings
        earlier = by_evidence.setdefault((claim.verdict, evidence), [])
        for other in earlier:
            if is_rewording(text, checked[other].claim.text, evidence):
                repeats[index] = other
                break
        else:
            earlier.append(index)
    return repeats


def _find_evidence_sentence(claim: CheckedClaim, sources: Sequence[Chunk]) -> str:
    quote = next((quote for quote in claim.evidence if quote.span), None)
    if quote is None or quote.span is None:
        return ""
    return find_quoted_sentence(sources[quote.source].text, *quote.span)


# The metrics of a sample ask the same questions one after the other: an Ask and its key are built once.
@lru_cache(maxsize=64)
def _build_split_ask(text: str, language: str | None, question: str | None) -> Ask:
    return split(text, question=question, language=language)


@lru_cache(maxsize=64)
def _build_support_ask(case: Case, language: str | None) -> Ask:
    return support(case, language=language)


def run_together(*generators: Asking[T]) -> Asking[list[T]]:
    """Run generators whose questions share rounds and return their results; the first outcome raised is raised again."""
    results = yield from together(*generators)
    for result in results:
        if isinstance(result, Unscored):
            raise result
    return [result for result in results if not isinstance(result, Unscored)]


def name_chunks(contexts: Ranked) -> list[Chunk]:
    """Return the chunks, each with an id: its own, or its rank when it has none."""
    if contexts and all(chunk.id and not chunk.text for chunk in contexts):
        raise MissingField("contexts_without_text")
    return [
        chunk if chunk.id else Chunk(str(rank), chunk.text)
        for rank, chunk in enumerate(contexts, 1)
    ]


def list_sources(contexts: Ranked, steps: Steps | None = None) -> list[Chunk]:
    """Return the chunks that have a text, and what tools returned besides them."""
    sources = [chunk for chunk in name_chunks(contexts) if chunk.text.strip()]
    if not steps:
        return sources
    known = {chunk.text.strip() for chunk in sources}
    for step in steps:
        if step.result and step.result.strip() and step.result.strip() not in known:
            known.add(step.result.strip())
            sources.append(Chunk(step.tool, step.result))
    return sources


def _read_once(reply: Any, context: tuple[Any, ...], read: Callable[[], T]) -> T:
    """Read a reply that several metrics of a sample share once; `context` is what else the result depends on."""
    cached = _read_replies.get(id(reply))
    if cached is not None and cached[0] is reply and cached[1] == context:
        result: T = cached[2]
        return result
    result = read()
    if len(_read_replies) >= _MAX_READ_REPLIES:
        _read_replies.clear()
    # the reply itself is held, so that no other object can get its id
    _read_replies[id(reply)] = (reply, context, result)
    return result


_read_replies: dict[int, tuple[Any, tuple[Any, ...], Any]] = {}
_MAX_READ_REPLIES = 192


def _read_split(reply: Any, text: str, language: str | None, split_ask: Ask) -> list[Claim]:
    # `question` is there with a bare answer, `asked` with one that opens with yes or no
    asked = split_ask.values["texts"][0]
    return read_claims(
        reply, text, language, asked.get("question", ""), opening=asked.get("asked", "")
    )


def read_claims(
    reply: Any, text: str, language: str | None, question: str = "", *, opening: str = ""
) -> list[Claim]:
    """Read the claims of a reply to `claims(text)`; a claim repeated in a sentence counts once.

    Claims of a bare answer are made of its words and those of the question that it was split with; where a text opens
    with yes or no, this holds of its first sentence alone (`opening` is the question)."""
    spans = split_cited_parts(text, language)
    sentences = [f"{question} {text[start:end]}".strip() for start, end in spans]
    if opening:
        sentences[0] = f"{opening} {sentences[0]}"
    strays: list[Claim] = []
    claims: dict[tuple[int, str], Claim] = {}
    for row in read_rows(reply, "claims", text_id=str, sentence=int, claim=str):
        number, claim = row["sentence"], row["claim"].strip()
        if row["text_id"] != "t1" or not 0 <= number < len(spans):
            raise JudgeFailed(
                "incomplete", "claim_outside_text", sentence=number, text=row["text_id"]
            )
        if not claim:
            raise JudgeFailed("unparseable", "claim_empty")
        made = claims.setdefault(
            (number, fold_text(claim)),
            Claim(claim, number, spans[number], text if question else ""),
        )
        if not is_of_sentence(claim, number, sentences):
            strays.append(made)
    if strays:
        raise JudgeFailed(
            "compromised" if len(strays) > 1 else "incomplete",
            "claim_not_of_sentence",
            claim=strays[0].text[:60],
            sentence=sentences[strays[0].sentence][:60],
        )
    return sorted(claims.values(), key=lambda claim: claim.sentence)


def read_verdicts(
    reply: Any, claims: Sequence[Claim], sources: Sequence[Chunk]
) -> list[CheckedClaim]:
    """Read the verdict on each claim from a reply to `support` and verify its quotes."""
    ids = {text: f"c{n}" for n, text in enumerate(_list_distinct(claims), 1)}
    rows = index_rows(
        read_rows(reply, "verdicts", id=str, verdict=str, evidence=list, reason=str),
        "id",
        ids.values(),
    )
    checked = [_read_claim(claim, rows[ids[claim.text]], sources) for claim in claims]
    supported = [
        claim for claim in checked if rows[ids[claim.claim.text]]["verdict"] == "supported"
    ]
    located = sum(any(quote.span for quote in claim.evidence) for claim in supported)
    require_quotes(located, len(supported))
    return checked


def require_quotes(located: int, claimed: int) -> None:
    """Raise for a judge that claims two or more items as supported without a single quote that occurs in its source."""
    if claimed >= 2 and not located:
        raise JudgeFailed("compromised", "no_quote_found", n=claimed)


def _read_claim(claim: Claim, row: Mapping[str, Any], sources: Sequence[Chunk]) -> CheckedClaim:
    checked = _check_claim(claim, row, sources)
    return checked._replace(opinion=read_opinion(row)) if "cascade" in row else checked


def _check_claim(claim: Claim, row: Mapping[str, Any], sources: Sequence[Chunk]) -> CheckedClaim:
    verdict, reason = row["verdict"], row["reason"]
    probability = read_probability(row.get("probability"))
    evidence = tuple([_locate_quote(quote, sources) for quote in row["evidence"]])
    located = [(quote.quote, sources[quote.source].text) for quote in evidence if quote.span]
    verified = bool(located)
    if verdict in ("contradicted", "not_found"):
        has_quote = verified if evidence else None
        return CheckedClaim(claim, verdict, reason, evidence, has_quote, probability)
    if verdict != "supported":
        raise JudgeFailed("unparseable", "verdict_unknown", verdict=verdict)
    fault = find_quote_fault(claim.text, located)
    if fault is not None:
        code = "quote_not_in_source" if evidence else "support_without_quote"
        code = _QUOTE_FAULTS[fault] if located else code
        reason = compose(f"{code}_explained", reason=reason) if reason else compose(code)
        chance = None if probability is None else 0.0
        return CheckedClaim(claim, "not_found", reason, evidence, False, chance)
    return CheckedClaim(claim, "supported", reason, evidence, True, probability)


_QUOTE_FAULTS = {
    "beside": "quote_beside_claim",
    "figure": "quote_other_figure",
    "denied": "quote_says_opposite",
}


def _locate_quote(row: Any, sources: Sequence[Chunk]) -> EvidenceQuote:
    # the class first: isinstance of an abstract class is slow
    is_object = row.__class__ is dict or isinstance(row, Mapping)
    source, quote = (row.get("source"), row.get("quote")) if is_object else (None, None)
    if not isinstance(source, str) or not isinstance(quote, str):
        raise JudgeFailed("unparseable", "evidence_malformed", evidence=repr(row))
    index = _index_sources(len(sources)).get(source)
    if index is None:
        raise JudgeFailed("incomplete", "source_unknown", source=source)
    return EvidenceQuote(index, quote, find_quote(quote, sources[index].text))


@lru_cache(maxsize=64)
def _index_sources(count: int) -> Mapping[str, int]:
    """Map the ids of `count` sources (k1, k2, …) to their indexes."""
    return {f"k{n}": n - 1 for n in range(1, count + 1)}


def _list_distinct(claims: Sequence[Claim]) -> dict[str, str]:
    """The texts of the claims, each once, with the bare answers that they were made of."""
    return {claim.text: claim.answer for claim in claims}
