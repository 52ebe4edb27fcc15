"""What a small model is asked about: a short passage of a document, and in it sentences that answer a question.

A target is a text that can be read without another one, which becomes the reference, and how its question begins. What
exactly the question asks for is left to the model: that the answer stands in the target is proved afterwards."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ragstone.testset.blocks import Block, tidy_text
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references
from ragstone.testset.offline.page import Page, find_sentences
from ragstone.testset.spans import find_spans, split_tokens

MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 7, 36
MAX_PASSAGE_WORDS = 100
"""Words of a passage: each costs time once, and a small model loses the thread in a long one."""
MAX_HEADINGS = 2
_PRONOUN = re.compile(r"(?<=\s)(?:its?|itself|they|them|their|ellas?|ellos)\b", re.IGNORECASE)
FIRST_WORDS = 4
"""Words of a sentence behind which a pronoun mostly means a noun before it in the sentence."""
_STARTS = {
    "en": re.compile(r"\w|`"),
    "es": re.compile(
        r"(?:El|La|Los|Las|Un|Una|Unos|Unas|Cada|Tod[oa]s?|Para|Si|Cuando|En|Desde|Hasta|Se|No se|Está|Hay|Quien|Quienes|Solo|Antes|Después|Durante|Ningun[oa]?|Cualquier|A|Al|Por|Con|Sin)\b"
    ),
}
"""How a reference begins: a Spanish verb without its subject leaves open who or what is meant."""
_LEANING = re.compile(
    r"(?:Let|You (?!can|may|must|have|need|should)|Both|Another|Others?|One|First|Second|Third|Finally|Next|Then|Thus|Therefore|Hence|There|Similarly|Otherwise|Instead|Additionally|Moreover|Furthermore|Unfortunately|Fortunately|Nevertheless|As|Again|In addition|In that|At that"
    r"|In other words|For (?:example|instance)|That is|\w+ly,|Es decir|Por ejemplo|\w+mente,"
    r"|Amb[oa]s|Otr[oa]s?|Primero|Luego|Entonces|Finalmente|Además|Aun|Aunque|Sin embargo|Por (?:tanto|ello|eso|lo tanto|último|otro)|En (?:cambio|ambos|ese|tal)|Al final|A veces|(?:El|La|Los|Las) (?:del?|que))(?:\b|(?<=,))"
)
"""How a sentence begins that goes on with a thought of the one before it."""
_SUBSTITUTE = re.compile(
    r"\b(?:on|of|for|with|in) one\b(?! [a-z])|\bA \w+ (?:on|for) one\b|\bde (?:ellos|ellas)\b"
)
"""Words that stand for a noun of another sentence."""
_POINTER = re.compile(
    r"\b(?:follow|see|consult|read|siga|vea|consulte|lea) (?:the|our|el|la|nuestr[oa]) [^.]*(?:guide|documentation|manual|instructions|section|page|guía|documentación|instrucciones|sección|página)\b",
    re.IGNORECASE,
)
"""A sentence that only says where something is told."""
_PERSON = re.compile(
    r"\b(?:by|is|por|es) (?:[a-zñáéíóú]+ ){0,3}[A-ZÁÉÍÓÚÑ][\w’-]+ [A-ZÁÉÍÓÚÑ][\w’-]+"
)
"""Who did or is something, by a name of two words."""
_BOUND = re.compile(
    r"(?:\b(?:under|below|over|above|than|except|menos de|más de|inferior(?:es)? a|superior(?:es)? a|menores de|mayores de|salvo)|\d[.:]?) $",
    re.IGNORECASE,
)
"""What stands before an amount that bounds something else (`balances under 5 euros`), or before the rest of a number."""
_OF = re.compile(r"(?<!\bantes )(?<!\bpartir )(?<!\bdespués )\b(?:of|del?) $")
"""What stands before a date that is part of a phrase: `a tower clock of 1472`."""
_NAME_BEFORE = re.compile(r"\b(?!In\b|On\b|Since\b|By\b|En\b|El\b|Desde\b)[A-ZÁÉÍÓÚÑ]\w+ $")
"""A name that a number belongs to: `Windows 2000`."""
_BEGINNINGS = {
    "en": {
        "who": "Who", "money": "How much", "percent": "What percentage", "often": "How often", "long": "How long",
        "quantity": "How many {unit}", "when": "When",
    },
    "es": {
        "who": "Quién", "money": "Cuánto", "percent": "Qué porcentaje", "often": "Cada cuánto", "long": "Cuánto tiempo",
        "quantity": "{many} {unit}", "when": "Cuándo",
    },
}  # fmt: skip
"""What a factual question asks for → how it begins."""
# the words before an amount of time that tell what asks for it; those of Span.sort do elsewhere
_ASKED_BEFORE = (
    ("often", re.compile(r"\b(?:every|each|cada) $", re.IGNORECASE)),
    ("long", re.compile(r"\b(?:takes?|took|lasts?|lasted|for|is|are|duran?|tardan?|durante|es de|son de) (?:\w+ ){0,3}$", re.IGNORECASE)),
    ("when", re.compile(r"\b(?:within|after|until|before|by|dentro de|plazo de|tras|hasta|antes de|después de) (?:\w+ )?$", re.IGNORECASE)),
)  # fmt: skip
_TIME_UNIT = re.compile(
    r"(?:(?:working|calendar|first|last|next) )?(?:primer[oa]s|últim[oa]s|próxim[oa]s|second|minute|hour|day|week|month|year|segundo|minuto|hora|día|semana|mes|año)"
)
_ASIDE = re.compile(
    r" (?:before|after|ahead|later|earlier|in advance|antes|después|más tarde|de antelación)\b"
)
"""Words behind an amount of time that tells when something is done (`45 minutes before departure`)."""
_FEMININE = re.compile(r"(?!días\b)\w+(?:as|iones|dades)\b")
_CUES: dict[str, tuple[tuple[str, str, re.Pattern[str]], ...]] = {
    "en": (
        ("how_to", "How do I", re.compile(r"(?:To|In order to) [a-z]+ .+,|If you (?:want|wish|need|would like) to .+,")),
        ("conceptual", "What happens if", re.compile(r"If (?!you )[^,]{6,80}, (?!\w+(?:,| and | or ))")),
        ("conceptual", "Why", re.compile(r".+\b(?:because|so that|, since)\b")),
        ("conceptual", "What is {subject}", re.compile(r"(?P<subject>[^,;:()]{2,50}?) is an? ")),
        ("conceptual", "What are {subject}", re.compile(r"(?P<subject>[^,;:()]{2,50}?) are (?=[a-z]+s (?:that|which|for|used|of)\b)")),
    ),
    "es": (
        ("how_to", "Cómo se", re.compile(r"Para [a-zñ]+[aei]r(?:lo|la|los|las|se)? .+,|Si (?:quiere|desea|necesita)[ns]? .+,")),
        ("conceptual", "Qué pasa si", re.compile(r"Si (?!bien )[^,]{6,80}, (?!\w+(?:,| y | o ))")),
        ("conceptual", "Por qué", re.compile(r".+\b(?:porque|ya que|puesto que|para que)\b")),
        ("conceptual", "Qué es {subject}", re.compile(r"(?P<subject>[^,;:()]{2,50}?) es una? ")),
        ("conceptual", "Qué son {subject}", re.compile(r"(?P<subject>[^,;:()]{2,50}?) son (?:unos|unas) ")),
    ),
}  # fmt: skip
"""By language: a kind, how its question begins, and the sign of a sentence that answers such a question."""


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
    begins: str
    """How the question begins, as the model is told it."""
    passage: TargetPassage
    span: tuple[int, int]
    """Where the reference stands."""
    reference: str
    claim: str = ""
    """How a definition begins: what proofs.py looks for elsewhere, since another such sentence may answer otherwise."""


def choose_targets(page: Page, kinds: Sequence[str], rng: random.Random) -> list[Target]:
    """Targets of the kinds, in an order in which those of one passage stand together; those of rare kinds first."""
    groups = [[target for target in group if target.kind in kinds] for group in list_targets(page)]
    rng.shuffle(groups)
    for group in groups:
        rng.shuffle(group)
    groups.sort(key=lambda group: -len({target.kind for target in group}))
    return [target for group in groups for target in group]


def list_targets(page: Page) -> Iterator[list[Target]]:
    """The targets of each passage of a page."""
    for headings, sections in groupby(page.sections, key=lambda section: section.headings):
        blocks = [section.block for section in sections]
        # a step alone answers nothing; rules ask for steps below a heading (offline/sections.py)
        prose = [block for block in blocks if block.kind == "paragraph" or (block.kind == "item" and not block.level)]  # fmt: skip
        for passage in _cut_passages(page, headings, prose):
            found = (_build_target(passage, span) for span in passage.spans)
            yield [target for target in found if target is not None]


def _cut_passages(page: Page, headings: tuple[str, ...], blocks: Sequence[Block]) -> Iterator[TargetPassage]:  # fmt: skip
    """The prose of a section in parts of no more than MAX_PASSAGE_WORDS words."""
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


def _build_target(passage: TargetPassage, span: tuple[int, int]) -> Target | None:
    """The target of a sentence, of the first kind whose sign it has; None where it does not stand alone or tells nothing."""
    sentence, language = passage.read(span), passage.page.grammar.language
    if not _stands_alone(sentence, passage.page):
        return None
    for kind, begins, sign in _CUES[language]:
        match = sign.match(sentence)
        subject = match.groupdict().get("subject", "") if match else ""
        if match and (not subject or gate.is_noun_phrase(subject, passage.page.grammar)):
            begins = begins.format(subject=passage.page.lower_start(subject))
            claim = match[0].strip() if subject else ""
            return Target(kind, begins, passage, span, sentence, claim)
    begins = _begin_factual(sentence, language)
    return Target("factual", begins, passage, span, sentence) if begins else None


def _begin_factual(sentence: str, language: str) -> str:
    """How a question for the first amount, date or time of a sentence begins, or for a person; empty where it has none."""
    tokens, starts = split_tokens(sentence), _BEGINNINGS[language]
    for span in find_spans(sentence, tokens, language):
        before = sentence[: tokens[span.first].start]
        bounds = (_BOUND, _OF, _NAME_BEFORE) if span.sort == "date" else (_BOUND,)
        if any(sign.search(before) for sign in bounds):
            continue
        is_counted = span.sort == "quantity"
        sort = span.sort if is_counted or span.sort in starts else "when"
        is_time = is_counted and _TIME_UNIT.match(span.unit)
        asked = next((asked for asked, sign in _ASKED_BEFORE if is_time and sign.search(before)), sort)  # fmt: skip
        if is_time and _ASIDE.match(sentence[tokens[span.last - 1].end :]):
            asked = "when"
        many = "Cuántas" if _FEMININE.match(span.unit) else "Cuántos"
        return starts[asked].format(unit=span.unit, many=many)
    return starts["who"] if _PERSON.search(sentence) else ""


def _stands_alone(sentence: str, page: Page) -> bool:
    """Whether a sentence is whole, of fair length, and points at nothing outside of it."""
    if not MIN_SENTENCE_WORDS <= len(sentence.split()) <= MAX_SENTENCE_WORDS:
        return False
    starts_well = (
        _STARTS[page.grammar.language].match(sentence) or sentence.split()[0].lower() in page.names
    )
    is_whole = sentence[0].isupper() and sentence.endswith(".") and not sentence.endswith("..")
    if (
        not is_whole
        or not starts_well
        or _LEANING.match(sentence)
        or _SUBSTITUTE.search(sentence)
        or _POINTER.search(sentence)
    ):
        return False
    words = sentence.split(" ", FIRST_WORDS)
    bare = " ".join([*words[:-1], _PRONOUN.sub("x", f" {words[-1]}").strip()])
    return not gate.explain_doubtful_reference(bare, page.grammar, owned=page.has_home)
