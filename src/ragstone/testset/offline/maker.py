"""Items out of a document's facts: every kind of question, without an LLM."""

from __future__ import annotations

import hashlib
import random
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragstone.data.documents import Document
from ragstone.language import LANGUAGES, sentences
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import Difficulty, Evidence, Item, item_id
from ragstone.testset.offline import twists
from ragstone.testset.offline.cloze import gapped, pieces
from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.framing import called, framed, owner, unframed
from ragstone.testset.offline.phrases import FIRST_TURNS, OUTSIDE, PLANTED, WORDS
from ragstone.testset.offline.walk import apart, facts_of
from ragstone.testset.reader import best
from ragstone.testset.sampling import language_of
from ragstone.testset.spans import names, tokens_of, typed
from ragstone.testset.vocabulary import GIVEN_NAMES, word_set
from ragstone.testset.wording import asked, content

_FACTUAL = word_set("number money date duration place person name percent thing")
_CONCEPTUAL = frozenset(["definition", "reason", "outcome", "claim"])
_KEPT = 48
"""Documents whose facts are kept: those of a step and of its neighbours."""
_INSTRUCTION = re.compile(
    r"\b(?:ignore (?:all|any|the|previous)|disregard (?:all|any|the|previous)|ignora (?:todas|las|cualquier)|no hagas caso)\b",
    re.IGNORECASE,
)


class OfflineMaker:
    """Makes candidates from the facts of a document, with a look at the rest of the corpus."""

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        self._facts: OrderedDict[str, list[Fact]] = OrderedDict()
        self._makers: dict[str, Callable[[Document, str, random.Random], Iterator[Item]]] = {
            "factual": self._factual, "conceptual": self._conceptual, "detail": self._detail,
            "multi_document": self._multi_document, "out_of_scope": self._out_of_scope,
            "near_miss": self._near_miss, "distractor": self._distractor, "negation": self._negation,
            "false_premise": self._false_premise, "paraphrase": self._paraphrase, "typos": self._typos,
            "informal": self._informal, "two_in_one": self._two_in_one,
            "hidden_instruction": self._hidden_instruction, "follow_up": self._follow_up,
        }  # fmt: skip

    def candidates(
        self, document: Document, wanted: Mapping[str, int], rng: random.Random
    ) -> Iterator[Item]:
        """Items of the wanted kinds, as many as the document yields, unproven; the caller stops when it has enough."""
        language = language_of(document.text, document.language)
        if language not in LANGUAGES:
            return
        for kind, most in wanted.items():
            if most > 0:
                yield from self._makers[kind](document, language, rng)

    def _known(self, document: Document, language: str) -> list[Fact]:
        """The facts of a document, each question made to stand on its own."""
        if document.id in self._facts:
            self._facts.move_to_end(document.id)
            return self._facts[document.id]
        found: dict[str, Fact] = {}
        for fact in facts_of(document, language):
            whole = framed(fact, document, language)
            if whole is not None:
                found.setdefault(whole.question, whole)
        self._facts[document.id] = list(found.values())
        while len(self._facts) > _KEPT:
            self._facts.popitem(last=False)
        return self._facts[document.id]

    def _picked(
        self, document: Document, language: str, rng: random.Random, *, twisted: bool = False
    ) -> list[Fact]:
        """The facts in random order, one a sentence first; plain kinds and twisted ones begin with different thirds."""
        facts = list(self._known(document, language))
        rng.shuffle(facts)
        seen: dict[int, int] = {}
        turns: list[tuple[bool, int, int]] = []
        for fact in facts:
            turn = seen[fact.start] = seen.get(fact.start, -1) + 1
            third = (
                hashlib.sha256(fact.question.encode("utf-8", "surrogatepass")).digest()[0] % 3 == 0
            )
            turns.append((third != twisted, turn, len(turns)))
        return [facts[at] for _, _, at in sorted(turns)]

    def _item(
        self, document: Document, fact: Fact, kind: str, language: str, question: str = "", *,
        reference: str = "", difficulty: Difficulty = "medium", how: str = "", style: str = "",
        history: tuple[str, ...] = (), proof: Mapping[str, Any] | None = None,
    ) -> Item:  # fmt: skip
        asks = question or fact.question
        evidence = (
            Evidence(document.id, fact.sentence, fact.start, fact.start + len(fact.sentence)),
        )
        return Item(
            item_id(asks, evidence, history), asks, reference or fact.answer, {document.id: 1.0}, evidence, kind,
            difficulty, language, how or f"template:{fact.sort}", style, history, dict(proof or {}),
        )  # fmt: skip

    def _factual(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng):
            if fact.sort in _FACTUAL and not fact.deep and not fact.negated:
                yield self._item(document, fact, "factual", language, difficulty="easy")

    def _conceptual(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng):
            if fact.sort in _CONCEPTUAL and not fact.negated:
                yield self._item(document, fact, "conceptual", language)

    def _detail(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng):
            if (
                (fact.deep or fact.sort in ("list", "initials"))
                and fact.sort not in _CONCEPTUAL
                and not fact.negated
            ):
                yield self._item(document, fact, "detail", language)
        yield from self._cloze(document, language, rng)

    def _negation(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng):
            if fact.negated:
                yield self._item(document, fact, "negation", language)

    def _cloze(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        """A sentence with a gap, for documents whose sentences no template fits."""
        text = document.text
        spans = [
            piece
            for a, b in sentences(text, language)
            for c, d in apart(text, a, b)
            for piece in pieces(text, c, d)
        ]
        rng.shuffle(spans)
        asked_already = {fact.start for fact in self._known(document, language)}
        for a, b in sorted(spans, key=lambda span: span[0] in asked_already):
            fact = gapped(text[a:b], a, language, called(owner(document.title), language))
            if fact is not None:
                yield self._item(document, fact, "detail", language, how="cloze")

    def _typos(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng, twisted=True):
            question = twists.with_slips(fact.question, rng)
            if question != fact.question and not fact.negated:
                yield self._item(
                    document,
                    fact,
                    "typos",
                    language,
                    question,
                    style="hurried",
                    proof={"plain": fact.question},
                )

    def _informal(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng, twisted=True):
            if not fact.negated:
                question = twists.in_a_chat(fact.question, language, rng)
                yield self._item(
                    document,
                    fact,
                    "informal",
                    language,
                    question,
                    style="chat",
                    proof={"plain": fact.question},
                )

    def _paraphrase(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        for fact in self._picked(document, language, rng, twisted=True):
            question = twists.paraphrase(fact.question, language)
            if not question:
                continue
            named = {
                stem
                for word in re.findall(r"\b[A-ZÁÉÍÓÚÑ][\w’'-]+|\d[\d.,]*", question)
                for stem in content(word, language)
            }
            shared = set(asked(question, language)) & set(content(fact.sentence, language))
            if shared <= named:
                yield self._item(
                    document, fact, "paraphrase", language, question, difficulty="hard",
                    proof={"plain": fact.question, "shared": sorted(shared)},
                )  # fmt: skip

    def _two_in_one(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        facts = [
            fact
            for fact in self._picked(document, language, rng, twisted=True)
            if fact.sort in _FACTUAL and not fact.negated
        ]
        for first, second in zip(facts[::2], facts[1::2], strict=False):
            if first.start != second.start:
                yield from self._joined(
                    "two_in_one", language, (document, first), (document, second)
                )

    def _joined(
        self, kind: str, language: str, first: tuple[Document, Fact], second: tuple[Document, Fact]
    ) -> Iterator[Item]:
        mine = owner(first[0].title)
        alike = set(asked(first[1].question, language)) == set(asked(second[1].question, language))
        if alike and first[1].answer == second[1].answer:  # two documents that say the same
            return
        again = second[1].question
        if mine and mine == owner(second[0].title) and mine in first[1].question:
            again = unframed(again, mine, language)
        question = twists.both(first[1].question, again, language)
        if not question or len(question.split()) > 40:
            return
        evidence = tuple(
            Evidence(document.id, fact.sentence, fact.start, fact.start + len(fact.sentence))
            for document, fact in (first, second)
        )
        parts = [
            {"question": fact.question, "reference": fact.answer} for _, fact in (first, second)
        ]
        yield Item(
            item_id(question, evidence), question, f"{first[1].answer}; {second[1].answer}",
            {first[0].id: 1.0, second[0].id: 1.0}, evidence, kind, "hard", language,
            f"template:{first[1].sort}+{second[1].sort}", proof={"parts": parts},
        )  # fmt: skip

    def _multi_document(
        self, document: Document, language: str, rng: random.Random
    ) -> Iterator[Item]:
        """A fact of this document and one of a document that speaks of like things."""
        for fact in self._picked(document, language, rng, twisted=True)[:6]:
            if fact.negated or fact.sort not in _FACTUAL:
                continue
            stems = self._index.rarest(asked(fact.question, language), 4)
            for other in self._index.near(stems, but=(document.id,), most=3):
                if language_of(other.text, other.language) != language:
                    continue
                fitting = [
                    one
                    for one in self._known(other, language)
                    if one.sort == fact.sort and not one.negated
                ]
                if fitting:
                    wanted = set(asked(fact.question, language))
                    near = max(
                        fitting,
                        key=lambda one: (
                            len(wanted & set(asked(one.question, language))),
                            one.question,
                        ),
                    )
                    yield from self._joined(
                        "multi_document", language, (document, fact), (other, near)
                    )
                    break

    def _follow_up(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        facts = self._picked(document, language, rng, twisted=True)
        for fact in facts:
            if not fact.again or fact.negated or not fact.subject:
                continue
            before = next(
                (
                    one
                    for one in facts
                    if one.subject == fact.subject and one.start != fact.start and not one.negated
                ),
                None,
            )
            if before is not None:
                history: tuple[str, ...] = (before.question, before.answer)
            else:
                first, reply = FIRST_TURNS[language]
                subject = fact.subject
                if language == "es":
                    first = first.replace("de {}", "{}")
                    subject = f"del {subject[3:]}" if subject.startswith("el ") else f"de {subject}"
                history = (first.format(subject), reply)
            yield self._item(
                document,
                fact,
                "follow_up",
                language,
                fact.again,
                history=history,
                proof={"plain": fact.question},
            )

    def _false_premise(
        self, document: Document, language: str, rng: random.Random
    ) -> Iterator[Item]:
        for fact in self._picked(document, language, rng):
            question, wrong = twists.false_premise(
                fact, self._other_name(fact.answer, language, rng), rng
            )
            if question and wrong not in document.text:
                yield self._item(
                    document, fact, "false_premise", language, question, reference=fact.sentence, difficulty="hard",
                    proof={"plain": fact.question, "plain_reference": fact.answer, "false": wrong, "true": fact.answer},
                )  # fmt: skip

    def _other_name(self, name: str, language: str, rng: random.Random) -> str:
        """Another person of the corpus for a person; no other names, which are of too many sorts to swap."""
        if not _given(name):
            return ""
        known = self._index.names(language)
        for _ in range(24 if known else 0):
            other = rng.choice(known)[0]
            if not _given(other):
                continue
            if not set(content(other, language)) & set(content(name, language)):
                return other
        return ""

    def _near_miss(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        """A true question with one name, owner or number swapped."""
        for fact in self._picked(document, language, rng):
            if fact.negated or fact.sort in ("initials", "definition", "claim"):
                continue
            for was, new in self._swaps(fact, document, language, rng):
                question = fact.question.replace(was, new, 1)
                if question == fact.question:
                    continue
                yield Item(
                    item_id(question, ()), question, None, {}, (), "near_miss", "medium", language,
                    f"swap:{fact.sort}", proof={"swapped": {"was": was, "for": new}, "from": document.id, "asked": fact.question},
                )  # fmt: skip
                break

    def _swaps(
        self, fact: Fact, document: Document, language: str, rng: random.Random
    ) -> Iterator[tuple[str, str]]:
        mine = owner(document.title)
        yield from self._inner_swaps(fact, document, mine, language, rng)
        if mine and mine in fact.question:
            others = [
                owner(one.title) for one in self._index.near(self._index.rarest([stem for stem in asked(fact.question, language) if stem not in content(mine, language)], 5), but=(document.id,), most=8)
                if language_of(one.text, one.language) == language
            ]  # fmt: skip
            yield from (
                (called(mine, language), called(other, language))
                for other in others
                if other and other != mine
            )

    def _inner_swaps(
        self, fact: Fact, document: Document, mine: str, language: str, rng: random.Random
    ) -> Iterator[tuple[str, str]]:
        tokens = tokens_of(fact.question)
        for a, b in names(tokens, language, frozenset()):
            name = fact.question[tokens[a].start : tokens[b - 1].end]
            if (
                a > 0
                and " " in name
                and name != mine
                and (other := self._other_name(name, language, rng))
            ):
                yield name, other
        for span in typed(fact.question, tokens, language):
            text = fact.question[tokens[span.first].start : tokens[span.last - 1].end]
            if (changed := twists.other_value(text, rng)) and changed not in document.text:
                yield text, changed

    def _distractor(self, document: Document, language: str, rng: random.Random) -> Iterator[Item]:
        """A fact of which another document says almost the same about something else."""
        for fact in self._picked(document, language, rng, twisted=True)[:8]:
            if fact.negated:
                continue
            stems = self._index.rarest(asked(fact.question, language), 5)
            for other in self._index.near(stems, but=(document.id,), most=2):
                found = best(fact.question, other.text, other.title, language)
                if found is not None and found.own >= 0.35 and fact.answer not in found.sentence:
                    item = self._item(
                        document, fact, "distractor", language, difficulty="hard",
                        proof={"distractor": {"document": other.id, "says": found.sentence}},
                    )  # fmt: skip
                    yield Item(
                        item.id, item.question, item.reference, {document.id: 1.0, other.id: 0.0}, item.evidence, item.kind,
                        item.difficulty, item.language, item.how, proof=item.proof,
                    )  # fmt: skip
                    break

    def _hidden_instruction(
        self, document: Document, language: str, rng: random.Random
    ) -> Iterator[Item]:
        """A plain question; the document holds an instruction, or one is planted beside it."""
        held = _INSTRUCTION.search(document.text)
        for fact in self._picked(document, language, rng, twisted=True):
            if fact.negated or fact.sort not in _FACTUAL:
                continue
            if held:
                proof: dict[str, Any] = {
                    "instruction": document.text[held.start() : held.end() + 80]
                }
            else:
                word = rng.choice(WORDS)
                topic = fact.question.strip("¿?")
                text = rng.choice(PLANTED[language]).format(topic=topic, word=word)
                proof = {"planted": {"id": f"{document.id}-planted", "text": text, "obeyed": word}}
            yield self._item(
                document, fact, "hidden_instruction", language, difficulty="hard", proof=proof
            )

    def _out_of_scope(
        self, document: Document, language: str, rng: random.Random
    ) -> Iterator[Item]:
        for question in rng.sample(OUTSIDE[language], len(OUTSIDE[language])):
            yield Item(
                item_id(question, ()),
                question,
                None,
                {},
                (),
                "out_of_scope",
                "easy",
                language,
                "pool",
            )


def _given(name: str) -> bool:
    """Whether a name starts with a first name, so that it is a person's."""
    return name.split()[0].lower() in GIVEN_NAMES and " " in name
