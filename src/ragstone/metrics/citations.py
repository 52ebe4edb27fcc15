"""Citation metrics: whether the [n] markers of an answer point at chunks that support the marked statements.

[n] is the chunk of rank n, [1][2], [1, 2] and [1-3] are several, [id] is the chunk with that id. A marker belongs to
what stands before it in its sentence, back to the marker before; one that follows the full stop belongs to the sentence
before it, one that nothing stands before to the sentence that it opens."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

from ragstone.asks import Asking
from ragstone.errors import NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics.claims import CheckedClaim, check_every_claim, name_chunks, split_claims
from ragstone.metrics.refusal import find_refusal, reject_refusal
from ragstone.registry import metric
from ragstone.text.evidence import find_quote
from ragstone.text.sentences import split_cited_parts
from ragstone.types import Chunk, Dialogue, Finding, Ranked, Score, expected_share


@metric
def citation_precision(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[Score]:
    """Marker–statement pairs whose cited chunk supports the statement ÷ pairs; a marker that points at no chunk counts as wrong.

    A pair counts with the claim's probability where its evidence stands in the cited chunk, else 0. A marker's statement is what stands before it in its sentence, back to the marker before."""
    cited = yield from _check_citations(answer, contexts, language, question, messages)
    return _score_precision(cited)


@metric
def citation_recall(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[Score]:
    """Claims of the answer that carry at least one supporting marker ÷ its claims; a claim counts with its best pair."""
    cited = yield from _check_citations(answer, contexts, language, question, messages)
    return _score_recall(cited)


@metric
def citation_accuracy(
    answer: str,
    contexts: Ranked,
    language: str | None = None,
    question: str | None = None,
    messages: Dialogue | None = None,
) -> Asking[Score]:
    """F1 of citation_precision and citation_recall; not applicable without markers."""
    cited = yield from _check_citations(answer, contexts, language, question, messages)
    precision, recall = _score_precision(cited), _score_recall(cited)
    # `share` always gives a value
    assert precision.value is not None
    assert recall.value is not None
    both = precision.value + recall.value
    value = 2 * precision.value * recall.value / both if both else 0.0
    return Score(value, findings=precision.findings)


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """A citation: index of its sentence or part of one, its text, and the ranks it points at (empty: no such chunk)."""

    sentence: int
    shown: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """The claims and markers of an answer with the chunks that they were checked against."""

    checked: list[CheckedClaim]
    markers: list[CitationMarker]
    chunks: list[Chunk]
    """All chunks, rank 1 first."""
    ranks: list[int]
    """Rank of each source that the claims were checked against."""

    def check_pair(self, checked: CheckedClaim, marker: CitationMarker) -> Finding:
        """Check a claim with a marker: supported when the cited chunk contains evidence for the claim."""
        nothing = None if checked.probability is None else 0.0
        if not marker.ranks:
            return Finding(
                checked.claim.text,
                "not_found",
                compose("marker_without_chunk", marker=marker.shown),
                span=checked.claim.span,
                probability=nothing,
            )
        reason = (
            compose("cites_marker_because", marker=marker.shown, reason=checked.reason)
            if checked.reason
            else compose("cites_marker", marker=marker.shown)
        )
        for rank in marker.ranks:
            chunk = self.chunks[rank - 1]
            quote, span = self._find_quote(checked, rank)
            if span:
                return Finding(
                    checked.claim.text,
                    "supported",
                    reason,
                    chunk.id,
                    quote,
                    start=span[0],
                    end=span[1],
                    verified=True,
                    span=checked.claim.span,
                    probability=checked.probability,
                )
        is_cited_source = any(
            self.ranks[evidence.source] in marker.ranks for evidence in checked.evidence
        )
        verdict = (
            "contradicted" if checked.verdict == "contradicted" and is_cited_source else "not_found"
        )
        cited = self.chunks[marker.ranks[0] - 1].id
        # whatever supports the claim, what is cited may be another chunk
        chance = checked.probability if is_cited_source else nothing
        return Finding(
            checked.claim.text, verdict, reason, cited, span=checked.claim.span, probability=chance
        )

    def _find_quote(self, checked: CheckedClaim, rank: int) -> tuple[str, tuple[int, int] | None]:
        """Find the quote that supports the claim in the chunk of this rank, and its span."""
        if checked.verdict != "supported":
            return "", None
        for evidence in checked.evidence:
            if evidence.span and self.ranks[evidence.source] == rank:
                return evidence.quote, evidence.span
        # overlapping chunks contain the same sentence, but a judge quotes it from one of them only
        for evidence in checked.evidence:
            if evidence.span and len(evidence.quote.split()) >= MIN_SHARED_QUOTE_WORDS:
                span = find_quote(evidence.quote, self.chunks[rank - 1].text)
                if span:
                    return evidence.quote, span
        return "", None


MIN_SHARED_QUOTE_WORDS = 5
"""Minimum length of a quote to count as evidence of every chunk that contains it; shorter ones occur by chance."""


def _check_citations(
    answer: str,
    contexts: Ranked,
    language: str | None,
    question: str | None,
    messages: Dialogue | None,
) -> Asking[CitedAnswer]:
    chunks = name_chunks(contexts)
    markers = find_markers(answer, chunks, language)
    if not markers:
        raise NotApplicable("no_citation_marker")
    reject_refusal(find_refusal(answer, question, None, None, language))
    claims = yield from split_claims(answer, "answer", language, question, messages)
    ranks = [rank for rank, chunk in enumerate(chunks, 1) if chunk.text.strip()]
    checked = yield from check_every_claim(claims, [chunks[rank - 1] for rank in ranks], language)
    return CitedAnswer(checked, markers, chunks, ranks)


def _score_precision(cited: CitedAnswer) -> Score:
    findings: list[Finding] = []
    for marker in cited.markers:
        claims = [checked for checked in cited.checked if checked.claim.sentence == marker.sentence]
        findings += [cited.check_pair(checked, marker) for checked in claims]
        if not claims and not marker.ranks:
            findings.append(
                Finding(marker.shown, "not_found", compose("points_at_no_chunk"), probability=0.0)
            )
    if not findings:
        raise NotApplicable("no_cited_claim")
    return expected_share(findings, "supported")


def _score_recall(cited: CitedAnswer) -> Score:
    findings = []
    for checked in cited.checked:
        markers = [marker for marker in cited.markers if marker.sentence == checked.claim.sentence]
        pairs = [cited.check_pair(checked, marker) for marker in markers]
        uncited = Finding(
            checked.claim.text,
            "not_cited",
            compose("no_marker"),
            span=checked.claim.span,
            probability=None if checked.probability is None else 0.0,
        )
        findings.append(max(pairs, key=lambda pair: pair.get_chance("supported"), default=uncited))
    return expected_share(findings, "supported")


def find_markers(answer: str, chunks: list[Chunk], language: str | None) -> list[CitationMarker]:
    """Find the markers of the answer in order, each once per sentence or part of one."""
    spans = split_cited_parts(answer, language)
    markers: dict[CitationMarker, None] = {}
    for match in _BRACKETS.finditer(answer):
        for shown, ranks in _parse_targets(match[1], chunks):
            markers[CitationMarker(_find_sentence(match.start(), answer, spans), shown, ranks)] = (
                None
            )
    return list(markers)


_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:\s*[-–—]\s*([0-9]{1,9}))?")


def _parse_targets(inside: str, chunks: list[Chunk]) -> list[tuple[str, tuple[int, ...]]]:
    """Parse the targets of a bracket, each with its text and ranks; empty when it is no citation ("[sic]")."""
    ranks_of_whole = _find_ranks(inside.strip(), chunks)
    if ranks_of_whole and not _RANGE.fullmatch(inside.strip()):
        return [(f"[{inside.strip()}]", ranks_of_whole)]
    targets: list[tuple[str, tuple[int, ...]]] = []
    for target in re.split(r"[,;]", inside):
        name = target.strip().removeprefix("^")
        numbers = _RANGE.fullmatch(name)
        if not numbers:
            ranks = _find_ranks(name, chunks)
            if not ranks:
                return []
            targets.append((f"[{name}]", ranks))
            continue
        low, high = sorted((int(numbers[1]), int(numbers[2] or numbers[1])))
        inside_ranks = range(max(low, 1), min(high, len(chunks)) + 1)
        targets += [(f"[{rank}]", (rank,)) for rank in inside_ranks]
        if len(inside_ranks) != high - low + 1:
            # a number beyond the ranking may still be an id; a long range counts as one such marker
            targets.append((f"[{name}]", _find_ranks(name, chunks)))
    return targets


def _find_ranks(name: str, chunks: list[Chunk]) -> tuple[int, ...]:
    return tuple(rank for rank, chunk in enumerate(chunks, 1) if chunk.id == name)


def _find_sentence(offset: int, answer: str, spans: list[tuple[int, int]]) -> int:
    """Return the index of the sentence that a marker at this offset belongs to."""
    index = max(0, bisect_right(spans, offset, key=itemgetter(0)) - 1)
    start, end = spans[index]
    if _BRACKETS.sub("", answer[start:offset]).strip(" .,;"):
        return index
    fresh_line = index == 0 or "\n" in answer[spans[index - 1][1] : start]
    if _BRACKETS.sub("", answer[start:end]).strip(" .,;"):
        return index if fresh_line else index - 1
    leads_next = index + 1 < len(spans) and "\n" not in answer[end : spans[index + 1][0]]
    if fresh_line and leads_next:
        return index + 1
    return max(index - 1, 0)
