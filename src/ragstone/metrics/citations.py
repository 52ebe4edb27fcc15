"""Whether the [n] markers of an answer point at chunks that say what the marked statements say.

[n] is the chunk of rank n, [1][2], [1, 2] and [1-3] are several, [id] is the chunk with that id. A marker belongs to
the sentence it stands in; one that follows the full stop belongs to the sentence before it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragstone.asks import Asking
from ragstone.errors import NotApplicable
from ragstone.locale.messages import compose
from ragstone.metrics.claims import CheckedClaim, check_claims, name_chunks, split_claims
from ragstone.registry import metric
from ragstone.text.evidence import find_quote
from ragstone.text.sentences import split_sentences
from ragstone.types import Chunk, Finding, Ranked, Score, share


@metric
def citation_precision(answer: str, contexts: Ranked, language: str | None = None) -> Asking[Score]:
    """Marker–statement pairs whose cited chunk supports the statement ÷ pairs; a marker that points at no chunk counts as wrong.

    The statements of a marker are the claims of its sentence."""
    cited = yield from _check_citations(answer, contexts, language)
    return _score_precision(cited)


@metric
def citation_recall(answer: str, contexts: Ranked, language: str | None = None) -> Asking[Score]:
    """Claims of the answer that carry at least one supporting marker ÷ its claims."""
    cited = yield from _check_citations(answer, contexts, language)
    return _score_recall(cited)


@metric
def citation_accuracy(answer: str, contexts: Ranked, language: str | None = None) -> Asking[Score]:
    """F1 of citation_precision and citation_recall; not applicable without markers."""
    cited = yield from _check_citations(answer, contexts, language)
    precision, recall = _score_precision(cited), _score_recall(cited)
    assert precision.value is not None
    assert recall.value is not None
    both = precision.value + recall.value
    value = 2 * precision.value * recall.value / both if both else 0.0
    return Score(value, findings=precision.findings)


@dataclass(frozen=True, slots=True)
class CitationMarker:
    """One citation: the sentence that carries it, as it reads, and the ranks it points at (none: at no chunk)."""

    sentence: int
    shown: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer's claims and markers beside the chunks they were checked against."""

    checked: list[CheckedClaim]
    markers: list[CitationMarker]
    chunks: list[Chunk]
    """All chunks, rank 1 first."""
    ranks: list[int]
    """Rank of each source that the claims were checked against."""

    def check_pair(self, one: CheckedClaim, marker: CitationMarker) -> Finding:
        """The claim with the marker: supported when evidence for the claim stands in the cited chunk."""
        if not marker.ranks:
            return Finding(
                one.claim.text,
                "not_found",
                compose("marker_without_chunk", marker=marker.shown),
                span=one.claim.span,
            )
        reason = (
            compose("cites_marker_because", marker=marker.shown, reason=one.reason)
            if one.reason
            else compose("cites_marker", marker=marker.shown)
        )
        for rank in marker.ranks:
            chunk = self.chunks[rank - 1]
            quote, at = self._find_quote(one, rank)
            if at:
                return Finding(
                    one.claim.text, "supported", reason, chunk.id, quote, *at, True, one.claim.span
                )
        against = any(self.ranks[piece.source] in marker.ranks for piece in one.evidence)
        verdict = "contradicted" if one.verdict == "contradicted" and against else "not_found"
        cited = self.chunks[marker.ranks[0] - 1].id
        return Finding(one.claim.text, verdict, reason, cited, span=one.claim.span)

    def _find_quote(self, one: CheckedClaim, rank: int) -> tuple[str, tuple[int, int] | None]:
        """The quote that supports the claim in the chunk of this rank, and where."""
        if one.verdict != "supported":
            return "", None
        for piece in one.evidence:
            if piece.span and self.ranks[piece.source] == rank:
                return piece.quote, piece.span
        # overlapping chunks hold the same sentence and a judge quotes it once; a shorter quote proves less
        for piece in one.evidence:
            if piece.span and len(piece.quote.split()) >= MIN_SHARED_QUOTE_WORDS:
                at = find_quote(piece.quote, self.chunks[rank - 1].text)
                if at:
                    return piece.quote, at
        return "", None


MIN_SHARED_QUOTE_WORDS = 5
"""Words from which on a quote found in another chunk counts as that chunk's evidence too."""


def _check_citations(answer: str, contexts: Ranked, language: str | None) -> Asking[CitedAnswer]:
    chunks = name_chunks(contexts)
    markers = find_markers(answer, chunks, language)
    if not markers:
        raise NotApplicable("no_citation_marker")
    claims = yield from split_claims(answer, "answer", language)
    ranks = [rank for rank, chunk in enumerate(chunks, 1) if chunk.text.strip()]
    checked = yield from check_claims(claims, [chunks[rank - 1] for rank in ranks], language)
    return CitedAnswer(checked, markers, chunks, ranks)


def _score_precision(cited: CitedAnswer) -> Score:
    findings: list[Finding] = []
    for marker in cited.markers:
        stated = [one for one in cited.checked if one.claim.sentence == marker.sentence]
        findings += [cited.check_pair(one, marker) for one in stated]
        if not stated and not marker.ranks:
            findings.append(Finding(marker.shown, "not_found", compose("points_at_no_chunk")))
    if not findings:
        raise NotApplicable("no_cited_claim")
    return share(findings, "supported")


def _score_recall(cited: CitedAnswer) -> Score:
    findings = []
    for one in cited.checked:
        own = [marker for marker in cited.markers if marker.sentence == one.claim.sentence]
        pairs = [cited.check_pair(one, marker) for marker in own]
        bare = Finding(one.claim.text, "not_cited", compose("no_marker"), span=one.claim.span)
        best = next((pair for pair in pairs if pair.verdict == "supported"), None)
        findings.append(best or next(iter(pairs), bare))
    return share(findings, "supported")


def find_markers(answer: str, chunks: list[Chunk], language: str | None) -> list[CitationMarker]:
    """The markers of the answer in order, each once a sentence."""
    spans = split_sentences(answer, language)
    found: dict[CitationMarker, None] = {}
    for match in _BRACKETS.finditer(answer):
        for shown, ranks in _parse_targets(match[1], chunks):
            found[CitationMarker(_find_sentence(match.start(), answer, spans), shown, ranks)] = None
    return list(found)


_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:\s*[-–—]\s*([0-9]{1,9}))?")


def _parse_targets(inside: str, chunks: list[Chunk]) -> list[tuple[str, tuple[int, ...]]]:
    """What a bracket cites: each target as shown and its ranks; nothing when it is no citation ("[sic]")."""
    whole = _find_ranks(inside.strip(), chunks)
    if whole and not _RANGE.fullmatch(inside.strip()):
        return [(f"[{inside.strip()}]", whole)]
    targets: list[tuple[str, tuple[int, ...]]] = []
    for piece in re.split(r"[,;]", inside):
        name = piece.strip().removeprefix("^")
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
            # what lies outside the ranking may still be an id; a long range counts as one such marker
            targets.append((f"[{name}]", _find_ranks(name, chunks)))
    return targets


def _find_ranks(name: str, chunks: list[Chunk]) -> tuple[int, ...]:
    return tuple(rank for rank, chunk in enumerate(chunks, 1) if chunk.id == name)


def _find_sentence(at: int, answer: str, spans: list[tuple[int, int]]) -> int:
    """Index of the sentence that a marker at this offset belongs to."""
    n = max((n for n, (start, _) in enumerate(spans) if start <= at), default=0)
    start, end = spans[n]
    if _BRACKETS.sub("", answer[start:at]).strip(" .,;"):
        return n
    fresh_line = n == 0 or "\n" in answer[spans[n - 1][1] : start]
    if _BRACKETS.sub("", answer[start:end]).strip(" .,;"):
        return n if fresh_line else n - 1
    leads = n + 1 < len(spans) and "\n" not in answer[end : spans[n + 1][0]]
    if fresh_line and leads:
        return n + 1
    return max(n - 1, 0)
