"""How a Spanish question is put together from the parts of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.verbs import finite, participle
from ragstone.testset.offline.spanish.words import DET, PREP, RELATIVE, adverb
from ragstone.testset.vocabulary import CUT_SHORT, UNCLEAR, word_set

LONGEST = 24


PERIODS = word_set("segundos minutos horas días noches semanas meses años décadas siglos")


_MASCULINE = word_set(
    "días problemas programas sistemas mapas planetas idiomas temas kilogramas síntomas "
    "diplomas artistas"
)


_FEMININE = re.compile(
    r"(?:as|ciones|siones|dades|tudes)$|^(?:noches|clases|calles|llaves|partes|bases|leyes|redes|flores|tardes|mujeres|imágenes|veces|fases|islas|naves|sedes|torres|fuentes)$"
)


def clean(question: str) -> bool:
    if question.count('"') % 2 or question.count("«") != question.count("»"):
        return False
    words = re.findall(r"[^\W\d_]+", question.lower())
    pointing = UNCLEAR["es"] - {"su", "sus", "lo", "le", "les", "mismo", "misma", "siguiente"}
    if any(word in pointing for word in words):
        return False
    # `y el Canal?`: the subject of a clause that was cut off
    if (
        re.search(r" y (?:el|la|los|las) (?:[^\W\d_]+ ){0,4}[^\W\d_]+\?$", question)
        and question.startswith(("¿Qué ", "¿qué"))
        and "entre " not in question
    ):
        return not re.search(r"(?:ó|aron|ieron) y (?:el|la|los|las) ", question)
    return not re.search(
        r"\b(?:y|o|de|del|el|la|los|las|un|una|que|en|con|por|para|a|al|su|se|más|como)\?$",
        question,
    )


def whole(answer: str) -> bool:
    if not answer.strip() or answer.count('"') % 2 or answer.count("(") != answer.count(")"):
        return False
    first, last = answer.split()[0].lower(), answer.split()[-1].lower()
    if last in CUT_SHORT:
        return False
    if (
        first
        in (
            "no",
            "y",
            "o",
            "su",
            "sus",
            "este",
            "esta",
            "estos",
            "estas",
            "ese",
            "esa",
            "lo",
            "ningún",
            "ninguna",
        )
        and len(answer) < 60
    ):
        return False
    return last not in PREP | DET and last not in ("posibles", "y", "o", "que", "es", "se", "más")


def many_of(unit: str) -> str:
    """`Cuántos` or `Cuántas`, by the noun's ending."""
    noun = unit.split()[0]
    return "cuántas" if noun not in _MASCULINE and _FEMININE.search(noun) else "cuántos"


class Form:
    """Questions over one clause, put together from its parts."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause

    def ask(
        self, what: str, rest: str, *, subject: str | None = None, lead: str | None = None
    ) -> str:
        """`what` + verb group + subject + rest, the phrase before the subject kept in front."""
        said = self.clause.subject if subject is None else subject
        rest = rest.strip()
        # a long subject goes last: short things first reads best
        parts = (
            (rest, said)
            if rest and len(said.split()) > len(rest.split()) + 1 and len(rest.split()) <= 4
            else (said, rest)
        )
        return self.put(what, f"{self.clause.group} {parts[0]} {parts[1]}", lead)

    def who(self, what: str, rest: str) -> str:
        """The question for the subject."""
        return self.put(what, f"{self.clause.group} {rest}", None)

    def put(self, what: str, body: str, lead: str | None) -> str:
        """The question with its signs and what stands before it."""
        front = self.clause.lead if lead is None else lead
        body = re.sub(r"\s+", " ", body).strip(" ,.;:")
        if front:
            return f"{front[:1].upper()}{front[1:]}, ¿{what} {body}?"
        return f"¿{what[:1].upper()}{what[1:]} {body}?"

    def again(self, what: str, rest: str) -> str:
        """The same as a second turn: Spanish leaves the subject out."""
        if self.clause.lead:
            return ""
        return f"¿Y {self.put(what, f'{self.clause.group} {rest}', '')[1:2].lower()}{self.put(what, f'{self.clause.group} {rest}', '')[2:]}"

    def why(self, before: str, after: str) -> str:
        """The statement as a why-question with a gap for the answer."""
        clause = self.clause
        if clause.negated or not clause.subject:
            return ""
        return self.put(
            "por qué",
            f"{clause.group} {before} {{}} {after} {clause.subject}"
            if clause.lead
            else f"{clause.subject} {clause.group} {before} {{}} {after}",
            None,
        )


def inner(clause: Clause, first: int, last: int) -> tuple[str, str, bool] | None:
    source, tokens = clause.source, clause.source.tokens
    if (
        first < clause.rest
        or last > clause.end
        or any(tokens[n].lower in RELATIVE for n in range(clause.rest, first))
    ):
        return None
    after = tokens[last] if last < clause.end else None
    if after is not None and not (
        after.lower in PREP
        or after.lower in ("si", "cuando", "el", "los", "las", "la", "a")
        or adverb(after)
    ):
        return None
    joined = (n for n in range(clause.rest, clause.end - 1) if tokens[n].lower in ("y", "e"))
    if any(finite(tokens[n + 1].lower) for n in joined):
        return None
    if first > clause.rest and participle(tokens[first - 1].lower):
        return None  # `una constitución promulgada en 1975` is no date of the verb
    before = source.say(clause.rest, first).strip(" ,")
    behind = source.say(last, clause.end).strip(" ,") if last < clause.end else ""
    if re.search(r"\b(?:de|del|y|o|el|la|los|las|un|una|que|su|sus)$", before) or behind.startswith(
        ("de ", "del ")
    ):
        return None
    return before, behind, last < clause.end


def answer_at(
    clause: Clause,
    form: Form,
    what: str,
    first: int,
    last: int,
    sort: str,
    *,
    answer: int | None = None,
) -> Iterator[Fact]:
    parts = inner(clause, first, last)
    if parts is None:
        return
    before, behind, deep = parts
    before = re.sub(r"(?:^| )(?:solo|sólo|también|ya|además)$", "", before)
    rest = f"{before} {behind}".strip()
    gap = clause.source.say(first, answer) if answer is not None and answer > first else ""
    yield Fact(
        form.ask(what, rest), clause.source.raw(first if answer is None else answer, last), sort, clause.subject,
        form.again(what, rest), form.why(f"{before} {gap}".strip(), behind), clause.negated, deep and bool(before),
    )  # fmt: skip
