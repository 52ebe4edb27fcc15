"""What a small model is asked about: a short passage of a document, and in it sentences that answer a question.

A target is a whole sentence that needs no other one, which becomes the reference, and inside it the words that the
question must ask for: an amount, a date or a name for a factual question, the reason or the steps for other kinds."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.spans import find_spans, split_tokens

MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 6, 36
MAX_PASSAGE_WORDS = 160
"""Words of a passage: each costs time once, and a small model loses the thread in a long one."""
MAX_HEADINGS = 2
_NAME = re.compile(
    r"(?<=[a-zñáéíóú,] )(?<!\b[Tt]he )(?<!\b[Ee]l )(?<!\b[Ll]a )(?<!\b[Ll]os )(?<!\b[Ll]as )(?<!\bof )(?<!\bde )(?<!\bdel )(?<!\bal )"
    r"(?:(?:Mrs?|Ms|Dr)\. )?[A-ZÁÉÍÓÚÑ][\w’-]+(?: (?:(?:of|de|del|la|&) )?[A-ZÁÉÍÓÚÑ][\w’-]+)+"
)
"""A name of several words that is no part of a longer phrase: of a person, a firm."""
_STARTS = {
    "en": re.compile(r"\w|`"),
    "es": re.compile(
        r"(?:El|La|Los|Las|Un|Una|Unos|Unas|Cada|Tod[oa]s?|Para|Si|Cuando|En|Desde|Hasta|Se|No se|Está|Hay|Quien|Quienes|Solo|Su|Sus|Antes|Después|Durante|Ningun[oa]?|Cualquier|A|Al|Por|Con|Sin)\b"
    ),
}
"""How a reference begins: a Spanish verb without its subject leaves open who or what is meant."""
_BOUND = re.compile(
    r"(?:\b(?:under|below|over|above|than|except|like|as|menos de|más de|inferior(?:es)? a|superior(?:es)? a|salvo|como)|\d[.:]?|, (?:de|of)) $",
    re.IGNORECASE,
)
"""What stands before an amount that bounds something else (`balances under 5 euros`), or before the rest of a number."""
_IN_RANGE = re.compile(
    r"\b(?:from|between|de|entre|desde) [^,;]{1,25} (?:to|and|a|y|hasta)(?: l[ao]s)? $"
)
"""What stands before the second end of a range."""
_BESIDE = re.compile(
    r"\b(?:every|each|within|after|before|first|last|next|its|their|our|the|cada|tras|dentro de|primer[oa]s|últim[oa]s|próxim[oa]s|sus|nuestr[oa]s|los|las|a los|con) $",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r" (?:ahead|before|after|later|earlier|ago|old|in advance|antes|después|más tarde|de antelación)\b"
)
"""Words around an amount that only says when or how often something is done, or is known already: small models ask for
it with the wrong word (`How many days are cuts announced?`)."""
_OPENING = re.compile(
    r"\b((?:(?:up to|at least|at most|about|within|until|from|between|hasta|al menos|un máximo de|unos|unas|entre|desde|del?|antes del?|a partir del?) )(?:l[ao]s )?)$",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:\.\d+)?(?: mensuales| anuales)? (?:(?:to|and|a|y|al|hasta) (?:l[ao]s )?\d[\d.,:]*\w*(?: de [a-zñ]+| [A-Z][a-z]+| [a-zñáéíóú]{3,}s)?(?=[ ,.;]|$)|(?:an?|per|por|each|cada|al) [a-zñí]+(?=[ ,.;]|$))"
)
_SUBSTITUTE = re.compile(
    r"\b(?:on|of|for|with|in) one\b(?! [a-z])|\bA \w+ (?:on|for) one\b|\bde (?:ellos|ellas)\b"
)
"""Words that stand for a noun of another sentence."""
_CUES = {
    "how_to": re.compile(
        r"^(?:To|In order to) [a-z]+ .+,|^If you (?:want|wish|need|would like) to .+,|\bby (?!default)[a-z]+ing\b"
        r"|^Para [a-zñ]+[aei]r(?:lo|la|los|las|se)? |^Si (?:quiere|desea|necesita)[ns]? .+,",
    ),
    "conceptual": re.compile(
        r"\b(?:because|so that|means that|indicates that|, since)\b|^(?:An?|The) [^,]{3,40}? is an? "
        r"|\b(?:porque|ya que|puesto que|para que|significa que|indica que)\b|^(?:Una?|El|La) [^,]{3,40}? es una? "
    ),
}
"""Signs of a sentence that answers a question of the kind."""
_RAREST = ("how_to", "conceptual", "factual")
"""The kinds, those first that fewest sentences serve."""


@dataclass(frozen=True, slots=True)
class TargetPassage:
    """A part of a section that a model is shown."""

    page: Page
    headings: tuple[str, ...]
    """Of its section, nearest first."""
    spans: tuple[tuple[int, int], ...]
    """Where its sentences stand in the document."""

    @property
    def title(self) -> str:
        """Document and section, as the model is shown them."""
        sections = [text for text in self.headings[:MAX_HEADINGS] if text != self.page.title]
        names = [self.page.product or self.page.command, self.page.title, *reversed(sections)]
        return " > ".join(dict.fromkeys(filter(None, names)))

    @property
    def text(self) -> str:
        """What the model is shown."""
        return " ".join(self.read(span) for span in self.spans)

    def read(self, span: tuple[int, int]) -> str:
        """A sentence as a reference shows it."""
        return drop_references(tidy_text(self.page.document.text[slice(*span)]))


@dataclass(frozen=True, slots=True)
class Target:
    """What a question is ordered about."""

    kind: str
    passage: TargetPassage
    span: tuple[int, int]
    """Where the sentence stands."""
    answer: str
    """The words that the question asks for; the whole sentence where it asks for all of it."""

    @property
    def sentence(self) -> str:
        """The sentence, which is the reference."""
        return self.passage.read(self.span)

    @property
    def is_whole(self) -> bool:
        """Whether the question asks for all that the sentence says."""
        return self.answer == self.sentence


def choose_targets(page: Page, kinds: Sequence[str], rng: random.Random) -> list[Target]:
    """Targets of one passage, drawn from those that serve most of the kinds; of a kind there may be more than are wanted."""
    best: list[Target] = []
    passages = list(list_passages(page))
    rng.shuffle(passages)
    served = 0
    for passage in passages:
        found = _match_kinds(passage, kinds, rng)
        count = (Counter(kinds) & Counter(target.kind for target in found)).total()
        if count > served:
            best, served = found, count
        if served == len(kinds):
            break
    return best


def _match_kinds(passage: TargetPassage, kinds: Sequence[str], rng: random.Random) -> list[Target]:
    """A target for each sentence of the passage that answers a question of one of the kinds, rare kinds first."""
    spans = [span for span in passage.spans if _stands_alone(passage, span)]
    rng.shuffle(spans)
    wanted = sorted(set(kinds), key=_RAREST.index)
    found = []
    for span in spans:
        answers = ((kind, _find_answer(passage, span, kind, rng)) for kind in wanted)
        kind, answer = next(((kind, answer) for kind, answer in answers if answer), ("", ""))
        if answer:
            found.append(Target(kind, passage, span, answer))
    return found


def list_passages(page: Page) -> Iterator[TargetPassage]:
    """The prose of a page, section by section, in parts of no more than MAX_PASSAGE_WORDS words."""
    paragraphs = [section for section in page.sections if section.block.kind == "paragraph"]
    for headings, sections in groupby(paragraphs, key=lambda section: section.headings):
        yield from _cut_passages(page, headings, [section.block for section in sections])


def _cut_passages(page: Page, headings: tuple[str, ...], blocks: Sequence[Block]) -> Iterator[TargetPassage]:  # fmt: skip
    spans: list[tuple[int, int]] = []
    words = 0
    for block in blocks:
        for span in find_sentences(page, block):
            length = len(page.document.text[slice(*span)].split())
            if spans and words + length > MAX_PASSAGE_WORDS:
                yield TargetPassage(page, headings, tuple(spans))
                spans, words = [], 0
            spans.append(span)
            words += length
    if spans:
        yield TargetPassage(page, headings, tuple(spans))


def _find_answer(
    passage: TargetPassage, span: tuple[int, int], kind: str, rng: random.Random
) -> str:
    """What a question of the kind asks for in a sentence; empty when the sentence is of another kind."""
    sentence = passage.read(span)
    if kind in _CUES:
        return sentence if _CUES[kind].search(sentence) else ""
    if _CUES["how_to"].search(sentence):
        return ""
    spans = _list_facts(sentence, passage.page.grammar.language)
    known = f"{passage.page.title} {passage.page.owner}"
    facts = [fact for fact in spans if fact not in known]
    return rng.choice(facts) if facts else ""


def _list_facts(sentence: str, language: str) -> list[str]:
    """Amounts, dates, times and names of a sentence, as it writes them; none that only bounds something else."""
    tokens = split_tokens(sentence)
    places = [
        (tokens[span.first].start, tokens[span.last - 1].end)
        for span in find_spans(sentence, tokens, language)
    ]
    places += [match.span() for match in _NAME.finditer(sentence) if not _overlaps(match.span(), places)]  # fmt: skip
    facts = (_complete_fact(sentence, place) for place in places)
    return list(dict.fromkeys(fact for fact in facts if fact))


def _overlaps(place: tuple[int, int], places: Sequence[tuple[int, int]]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in places)


def _complete_fact(sentence: str, place: tuple[int, int]) -> str:
    """A fact with the words that belong to it (`from 9 to 12`, `up to 8 cents a minute`); empty for one that is no answer."""
    start, end = place
    beginning, rest = sentence[:start], sentence[end:]
    if any(sign.search(beginning) for sign in (_BOUND, _IN_RANGE, _BESIDE)) or _ASIDE.match(rest):
        return ""
    before, after = _OPENING.search(sentence[:start]), _CLOSING.match(sentence[end:])
    start = before.start(1) if before else start
    return sentence[start : end + (after.end() if after else 0)]


def _stands_alone(passage: TargetPassage, span: tuple[int, int]) -> bool:
    """Whether a sentence is whole, of fair length, and points at nothing outside of it."""
    sentence, page = passage.read(span), passage.page
    if not MIN_SENTENCE_WORDS <= len(sentence.split()) <= MAX_SENTENCE_WORDS:
        return False
    starts_well = (
        _STARTS[page.grammar.language].match(sentence) or sentence.split()[0].lower() in page.names
    )
    if _SUBSTITUTE.search(sentence) or not starts_well:
        return False
    is_whole = gate.is_sentence(sentence, page.grammar)
    return is_whole and not gate.explain_doubtful_reference(sentence, page.grammar, owned=page.has_home)  # fmt: skip
