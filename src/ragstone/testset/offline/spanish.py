"""Questions over Spanish clauses: quién, cuándo, cuántos, qué es, por qué, qué pasa si."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.testset.offline.english import initials
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.offline.spanish_clauses import (
    AROUND,
    DET,
    PREP,
    RELATIVE,
    Clause,
    adverb,
    clauses,
    end_of,
)
from ragstone.testset.offline.spanish_verbs import finite, infinitive, participle
from ragstone.testset.spans import Span, is_number, is_person, names, plural
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, UNCLEAR

__all__ = ["clauses", "facts"]

_LONGEST = 24
_PERIODS = frozenset(["segundos", "minutos", "horas", "días", "noches", "semanas", "meses", "años", "décadas", "siglos"])
_MASCULINE = frozenset(
    ["días", "problemas", "programas", "sistemas", "mapas", "planetas", "idiomas", "temas", "kilogramas", "síntomas", "diplomas", "artistas"]
)
_FEMININE = re.compile(
    r"(?:as|ciones|siones|dades|tudes)$|^(?:noches|clases|calles|llaves|partes|bases|leyes|redes|flores|tardes|mujeres|imágenes|veces|fases|islas|naves|sedes|torres|fuentes)$"
)


def facts(source: Source, found: Sequence[Clause]) -> Iterator[Fact]:
    """What the sentence tells, one fact for each thing that can be asked for."""
    yield from _outcome(source)
    for letters, name in initials(source.text):
        yield Fact(
            f"¿Qué significan las siglas {letters}?", name, "initials", letters, deep=True
        ).at(source)
    yield from _apposition(source)
    yield from _existing(source)
    for number, clause in enumerate(found):
        for fact in _from(clause):
            if (
                len(fact.question.split()) <= _LONGEST
                and _clean(fact.question)
                and _whole(fact.answer)
            ):
                yield Fact(
                    fact.question, fact.answer, fact.sort, fact.subject, fact.again, fact.why,
                    fact.negated, fact.deep or number > 0,
                ).at(source)  # fmt: skip


def _clean(question: str) -> bool:
    if question.count('"') % 2 or question.count("«") != question.count("»"):
        return False
    words = re.findall(r"[^\W\d_]+", question.lower())
    pointing = UNCLEAR["es"] - {"su", "sus", "lo", "le", "les", "mismo", "misma", "siguiente"}
    if any(word in pointing for word in words):
        return False
    return not re.search(
        r"\b(?:y|o|de|del|el|la|los|las|un|una|que|en|con|por|para|a|al|su|se|más|como)\?$",
        question,
    )


def _whole(answer: str) -> bool:
    if not answer.strip() or answer.count('"') % 2 or answer.count("(") != answer.count(")"):
        return False
    first, last = answer.split()[0].lower(), answer.split()[-1].lower()
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
    return last not in PREP | DET and last not in ("y", "o", "que", "es", "se", "más")


def many_of(unit: str) -> str:
    """`Cuántos` or `Cuántas`, by the noun's ending."""
    noun = unit.split()[0]
    return "cuántas" if noun not in _MASCULINE and _FEMININE.search(noun) else "cuántos"


class _Form:
    """Questions over one clause, put together from its parts."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause

    def ask(
        self, what: str, rest: str, *, subject: str | None = None, lead: str | None = None
    ) -> str:
        """`what` + verb group + subject + rest, the phrase before the subject kept in front."""
        said = self.clause.subject if subject is None else subject
        # a long subject goes last: short things first reads best
        parts = (
            (rest, said)
            if len(said.split()) > 7 and rest and len(rest.split()) <= 3
            else (said, rest)
        )
        return self.put(what, f"{self.clause.group} {parts[0]} {parts[1]}", lead)

    def who(self, what: str, rest: str) -> str:
        """The question for the subject."""
        return self.put(what, f"{self.clause.group} {rest}", None)

    def put(self, what: str, body: str, lead: str | None) -> str:
        """The question with its signs and what stands before it."""
        front = self.clause.lead if lead is None else lead
        body = re.sub(r"\s+", " ", body).strip(" ,.")
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


def _from(clause: Clause) -> Iterator[Fact]:
    if clause.lead == "?" or not clause.subject:
        return
    source, tokens = clause.source, clause.source.tokens
    body = [one.lower for one in tokens[clause.verb : clause.end]]
    if any(
        word
        in ("nosotros", "nuestro", "nuestra", "nuestros", "nuestras", "usted", "ustedes", "nos")
        for word in body
    ):
        return
    if any(one.lower in ("lo", "la", "los", "las") for one in tokens[clause.verb : clause.finite]):
        return  # the object stands first: what looks like the subject is not
    form = _Form(clause)
    yield from _denied(clause, form)
    if not clause.relative:
        yield from _spans(clause, form)
        yield from _dated_lead(clause, form)
        yield from _places(clause, form)
        yield from _agent(clause, form)
        yield from _definition(clause, form)
        yield from _object(clause, form)
        yield from _complement(clause, form)
        yield from _claim(clause, form)
        yield from _purpose(clause, form)
        yield from _reason(clause, form)
        yield from _counted_subject(clause, form)
    yield from _subject(clause, form)


def _inner(clause: Clause, first: int, last: int) -> tuple[str, str, bool] | None:
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
    before = source.say(clause.rest, first).strip(" ,")
    behind = source.say(last, clause.end).strip(" ,") if last < clause.end else ""
    if re.search(r"\b(?:de|del|y|o|el|la|los|las|un|una|que|su|sus)$", before) or behind.startswith(
        ("de ", "del ")
    ):
        return None
    return before, behind, last < clause.end


def _put(
    clause: Clause,
    form: _Form,
    what: str,
    first: int,
    last: int,
    sort: str,
    *,
    answer: int | None = None,
) -> Iterator[Fact]:
    parts = _inner(clause, first, last)
    if parts is None:
        return
    before, behind, deep = parts
    rest = f"{before} {behind}".strip()
    gap = clause.source.say(first, answer) if answer is not None and answer > first else ""
    yield Fact(
        form.ask(what, rest), clause.source.raw(first if answer is None else answer, last), sort, clause.subject,
        form.again(what, rest), form.why(f"{before} {gap}".strip(), behind), clause.negated, deep and bool(before),
    )  # fmt: skip


def _spans(clause: Clause, form: _Form) -> Iterator[Fact]:
    tokens = clause.source.tokens
    inside = [s for s in clause.spans if clause.rest <= s.first and s.last <= clause.end]
    clocks = sum(s.sort == "clock" for s in inside)
    for span in inside:
        first = span.first
        while first > clause.rest and tokens[first - 1].lower in AROUND - {"de", "al"}:
            first -= 1
        prep = tokens[first - 1].lower if first > clause.rest else ""
        ser = (
            clause.main in ("es", "son", "era", "eran", "fue", "será")
            and clause.rest == clause.finite + 1
        )
        if span.sort == "money":
            if first == clause.rest and not ser:
                yield from _put(clause, form, "cuánto", first, span.last, "money")
            elif prep == "de" and ser and first - 1 == clause.rest:
                yield from _put(
                    clause, form, "de cuánto", first - 1, span.last, "money", answer=first
                )
        elif span.sort == "percent" and first == clause.rest and not ser:
            yield from _put(clause, form, "qué porcentaje", first, span.last, "percent")
        elif span.sort == "quantity":
            yield from _quantity(clause, form, span, first, prep, ser)
        elif span.sort == "clock" and clocks <= 2:
            yield from _clock(clause, form, span)
        elif (
            span.sort == "day"
            and clocks == 0
            and prep not in PREP | {"y", "o"}
            and first == span.first
        ):
            yield from _put(clause, form, "cuándo", first, span.last, "date")
        elif span.sort == "date":
            yield from _when(clause, form, span)


def _quantity(
    clause: Clause, form: _Form, span: Span, first: int, prep: str, ser: bool
) -> Iterator[Fact]:
    tokens = clause.source.tokens
    period = span.unit.split()[0] in _PERIODS
    after = tokens[span.last].lower if span.last < clause.end else ""
    if after in ("después", "antes") and first == clause.rest:
        rest = clause.source.say(span.last, clause.end).strip(" ,.")
        yield Fact(
            form.put(f"{many_of(span.unit)} {span.unit} {rest}", f"{clause.group} {clause.subject}", None),
            clause.source.raw(first, span.last), "number", clause.subject, "", "", clause.negated, True,
        )  # fmt: skip
        return
    if after in ("después", "antes", "y", "o", "atrás", "más"):
        return
    if first == clause.rest and not ser:
        if period and clause.main.startswith(("dur", "tard")):
            yield from _put(clause, form, "cuánto", first, span.last, "duration")
        elif clause.main not in ("hace", "aumentó", "creció", "tardan", "está", "están"):
            yield from _put(
                clause, form, f"{many_of(span.unit)} {span.unit}", first, span.last, "number"
            )
    elif ser and prep == "de" and first - 1 == clause.rest:
        yield from _put(
            clause,
            form,
            f"de {many_of(span.unit)} {span.unit}",
            first - 1,
            span.last,
            "number",
            answer=first,
        )
    elif period and prep in ("durante", "por"):
        yield from _put(
            clause, form, "durante cuánto tiempo", first - 1, span.last, "duration", answer=first
        )
    elif period and prep == "en" and not ser:
        yield from _put(
            clause, form, "en cuánto tiempo", first - 1, span.last, "duration", answer=first
        )


def _clock(clause: Clause, form: _Form, span: Span) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    before = [one.lower for one in tokens[max(clause.rest, span.first - 2) : span.first]]
    if before[-1:] == ["de"]:
        other = next(
            (
                s
                for s in clause.spans
                if s.sort == "clock" and s.first in (span.last + 1, span.last + 2)
            ),
            None,
        )
        if other is not None and tokens[span.last].lower == "a" and other.last <= clause.end:
            yield from _put(clause, form, "en qué horario", span.first - 1, other.last, "date")
    elif before[-2:] == ["a", "las"]:
        yield from _put(clause, form, "a qué hora", span.first - 2, span.last, "date")
    elif before[-2:] == ["hasta", "las"]:
        yield from _put(clause, form, "hasta qué hora", span.first - 2, span.last, "date")


def _when(clause: Clause, form: _Form, span: Span) -> Iterator[Fact]:
    tokens = clause.source.tokens
    first = span.first
    prep = tokens[first - 1].lower if first > clause.rest else ""
    text = clause.source.raw(span.first, span.last)
    if span.last < clause.end and tokens[span.last].lower in ("y", "o"):
        return
    if prep == "en":
        what = (
            "en qué año"
            if text.isdigit()
            else "en qué mes"
            if text in MONTHS_AND_DAYS
            else "cuándo"
        )
        yield from _put(clause, form, what, first - 1, span.last, "date", answer=first)
    elif prep == "desde":
        yield from _put(clause, form, "desde cuándo", first - 1, span.last, "date")
    elif prep == "hasta":
        yield from _put(clause, form, "hasta cuándo", first - 1, span.last, "date")
    elif (
        prep == "el"
        and first - 2 >= clause.rest - 1
        and tokens[first - 2].lower not in ("hasta", "desde", "del", "de", "y")
    ):
        yield from _put(clause, form, "cuándo", first - 1, span.last, "date")
    elif prep in ("de", "del"):
        other = next(
            (
                s
                for s in clause.spans
                if s.sort == "date" and s.first in (span.last + 1, span.last + 2)
            ),
            None,
        )
        if (
            other is not None
            and tokens[span.last].lower in ("a", "al")
            and other.last <= clause.end
        ):
            yield from _put(clause, form, "cuándo", first - 1, other.last, "date")


def _dated_lead(clause: Clause, form: _Form) -> Iterator[Fact]:
    if clause.lead_date is None or clause.negated:
        return
    source = clause.source
    a, b = clause.lead_date
    low = source.tokens[a].lower
    if low not in ("en", "el", "durante"):
        return
    rest = source.say(clause.rest, clause.end)
    answer = source.raw(a + 1, b) if low == "en" else source.raw(a, b)
    what = "en qué año" if answer.isdigit() else "cuándo"
    yield Fact(
        form.ask(what, rest, lead=""),
        answer[:1].lower() + answer[1:] if low == "el" else answer,
        "date",
        clause.subject,
    )


_PLACED = frozenset(
    ["nació", "murió", "nacieron", "está", "están", "encuentra", "encuentran", "ubicada", "ubicado", "situada", "situado", "fundó", "fundada", "fundado", "celebró", "celebrada", "celebrado", "vive", "viven", "construyó", "formó", "enterrado", "enterrada"]
)


def _places(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if (
        clause.last_verb not in _PLACED
        or clause.rest >= clause.end
        or tokens[clause.rest].lower != "en"
    ):
        return
    if any(
        s.first <= clause.rest + 2 and s.sort in ("date", "clock")
        for s in clause.spans
        if s.first > clause.rest
    ):
        return
    end = clause.rest + 1
    while (
        end < clause.end
        and tokens[end].text != ","
        and tokens[end].lower not in RELATIVE
        and not (tokens[end].lower in PREP - {"de", "del"} and end > clause.rest + 1)
    ):
        end += 1
    if any(one.capital for one in tokens[clause.rest + 1 : end]) or clause.main in (
        "está",
        "están",
    ):
        yield from _put(clause, form, "dónde", clause.rest, end, "place")


def _agent(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if not participle(clause.last_verb) or clause.rest >= clause.end - 1:
        return
    at = next((n for n in range(clause.rest, clause.end - 1) if tokens[n].lower == "por"), None)
    if at is None or at - clause.rest > 3:
        return
    for a, b in clause.names():
        if not at < a <= at + 4 or b > clause.end:
            continue
        if not is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people):
            return
        parts = _inner(clause, at, b)
        if parts is None:
            return
        rest = f"{parts[0]} {parts[1]}".strip()
        yield Fact(
            form.ask("por quién", rest), source.raw(at + 1, b), "person", clause.subject,
            why=form.why(f"{parts[0]} por".strip(), parts[1]), negated=clause.negated,
        )  # fmt: skip
        return


_SINGLED_OUT = re.compile(
    r"\b(?:más|primer|primera|primero|última|último|mayor|menor|principal|única|único|mejor|nombre|objetivo|causa|función|papel|media|medio)\b"
)
_SER = frozenset(["es", "son", "era", "eran", "fue", "fueron"])


def _definition(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if (
        clause.main not in _SER
        or clause.rest != clause.finite + 1
        or clause.negated
        or clause.rest >= clause.end - 1
    ):
        return
    start = tokens[clause.rest].lower
    if start not in ("un", "una", "el", "la", "los", "las", "unos", "unas", "uno"):
        return
    end = end_of(source, clause.rest, relatives=True)
    answer = source.raw(clause.rest, end).rstrip(" ,.;")
    subject, verb = clause.subject, clause.main
    person = clause.person
    if start in ("un", "una", "unos", "unas", "uno"):
        named = (
            clause.named
            or subject[:1].isupper()
            or (
                clause.words
                and clause.words[0] in ("el", "la", "los", "las")
                and len(clause.words) <= 4
            )
        )
        if person:
            yield Fact(f"¿Quién {verb} {subject}?", answer, "definition", subject)
        elif named and len(subject.split()) <= 7 and not clause.lead:
            yield Fact(f"¿Qué {verb} {subject}?", answer, "definition", subject)
    elif clause.named and clause.words and len(clause.words) <= 7:
        rest = source.say(clause.rest, clause.end)
        what = "quién" if person else "cuál" if verb in ("es", "era", "fue") else "cuáles"
        if len(rest.split()) >= 4:
            yield Fact(
                form.put(what, f"{verb} {rest}", None),
                source.raw(clause.first, clause.close),
                "name",
                subject,
            )
    elif _SINGLED_OUT.search(subject):
        what = "cuál" if verb in ("es", "era", "fue") else "cuáles"
        yield Fact(form.put(what, f"{verb} {subject}", None), answer, "definition", subject)


_NO_OBJECT = re.compile(
    r"(?:es|son|era|eran|fue|fueron|está|están|estaba|estaban|parece|parecen|cuesta|cuestan|hay|va|van|llega|llegó|llegan|vive|vivió|nació|murió|"
    r"existe|existen|ocurre|ocurrió|dura|duran|tarda|tardan|baja|sube|queda|quedan|permanece|aumentó|creció|resulta|resultó|hace|hizo|dijo|dice|afirma|afirmó|sugiere|sugirió)$"
)


def _object(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if (
        clause.rest >= clause.end
        or clause.negated
        or _NO_OBJECT.match(clause.last_verb)
        or clause.reflexive
    ):
        return
    if (
        (participle(clause.last_verb)
        and clause.main not in _HAVE)
        or re.match(r"(?:se?r|estar)$", clause.last_verb)
    ):
        return
    if any(
        one.lower in ("lo", "la", "los", "las", "le", "les")
        for one in tokens[clause.verb : clause.finite]
    ):
        return
    start = tokens[clause.rest]
    if not (
        start.lower in DET - {"su", "sus", "este", "esta", "ese", "esa", "estos", "estas"}
        or (plural(start.lower, "es") and not start.capital)
    ):
        return
    if is_number(start, "es") or adverb(start) or start.lower in PREP:
        return
    end = next(
        (
            n
            for n in range(clause.rest + 1, clause.end)
            if tokens[n].lower in (PREP - {"de", "del"}) | RELATIVE
        ),
        clause.end,
    )
    if end < clause.end and tokens[end].lower in RELATIVE:
        end = clause.end
    while end > clause.rest and (adverb(tokens[end - 1]) or tokens[end - 1].text == ","):
        end -= 1
    if (
        end - clause.rest < 2
        or end - clause.rest > 14
        or any(s.first < end and s.last > clause.rest for s in clause.spans)
    ):
        return
    if start.lower in ("todo", "toda", "todos", "todas", "cada") or tokens[
        end - 1
    ].lower in _PERIODS | {"día", "año", "mes", "semana", "hora"}:
        return
    if any(
        a >= clause.rest
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    ):
        return
    parts = _inner(clause, clause.rest, end)
    if parts is None:
        return
    listed = any(tokens[n].text == "," for n in range(clause.rest, end))
    yield Fact(
        form.ask("qué", parts[1]), source.raw(clause.rest, end), "list" if listed else "thing", clause.subject,
        form.again("qué", parts[1]), form.why("", parts[1]), clause.negated,
    )  # fmt: skip


_PAIRS = {
    "depende de": "de qué", "dependen de": "de qué", "depender de": "de qué", "consiste en": "en qué", "consisten en": "en qué", "consistía en": "en qué",
    "pertenece a": "a qué", "pertenecen a": "a qué", "basa en": "en qué", "basan en": "en qué", "basó en": "en qué", "debe a": "a qué", "deben a": "a qué", "debió a": "a qué",
    "refiere a": "a qué", "refieren a": "a qué", "dedica a": "a qué", "dedican a": "a qué", "dedicó a": "a qué", "conoce como": "cómo", "conocen como": "cómo", "conocido como": "cómo",
    "conocida como": "cómo", "conocidos como": "cómo", "conocidas como": "cómo", "llama": "cómo", "llamó": "cómo", "centra en": "en qué", "centró en": "en qué", "centran en": "en qué",
    "convirtió en": "en qué", "convirtieron en": "en qué", "convierte en": "en qué", "compone de": "de qué", "componen de": "de qué", "divide en": "en qué", "dividió en": "en qué",
    "proviene de": "de dónde", "provienen de": "de dónde", "procede de": "de dónde", "sirve para": "para qué", "sirven para": "para qué", "destaca por": "por qué", "utiliza para": "para qué",
    "usa para": "para qué", "usan para": "para qué", "utilizan para": "para qué", "participó en": "en qué", "participa en": "en qué", "contribuyó a": "a qué", "señalizada con": "con qué", "señalizado con": "con qué",
    "compuesto por": "por qué está", "dividido en": "en qué", "dividida en": "en qué", "basado en": "en qué", "basada en": "en qué", "basados en": "en qué", "relacionado con": "con qué", "relacionada con": "con qué",
}  # fmt: skip


def _complement(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`consiste en …`, `se conoce como …`: en qué consiste, cómo se conoce."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    if at >= clause.end - 1 or clause.negated:
        return
    low = tokens[at].lower
    link = "a" if low == "al" else "de" if low == "del" else low
    what = _PAIRS.get(f"{clause.last_verb} {link}")
    start = at + 1
    if what is None or what == "por qué está":
        return
    end = end_of(source, start, relatives=True)
    if not 1 <= end - start <= 20 or tokens[start].lower in RELATIVE | UNCLEAR["es"] - {
        "su",
        "sus",
    }:
        return
    if any(s.first <= start < s.last for s in clause.spans if s.sort in ("date", "clock")):
        return
    answer = source.raw(start, end).rstrip(" ,.")
    if low in ("al", "del"):
        answer = answer if answer[:1].isupper() else f"{answer}"
    yield Fact(
        form.ask(what, ""),
        answer,
        "thing",
        clause.subject,
        form.again(what, ""),
        "",
        clause.negated,
    )


_PEOPLE = frozenset(
    ["socios", "abonados", "menores", "adultos", "niños", "padres", "visitantes", "lectores", "pacientes", "vecinos", "alumnos", "estudiantes", "viajeros", "usuarios", "familiares", "científicos", "economistas", "historiadores"]
)


def _subject(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if not clause.words or clause.rest >= clause.end:
        return
    rest = source.say(clause.rest, clause.end).strip(" ,")
    content = [
        one
        for one in tokens[clause.rest : clause.end]
        if (one.word and len(one.text) > 3) or one.text[0].isdigit()
    ]
    if (
        len(content) < 2
        or re.search(r"\b(?:su|sus|ellos|ella|él)\b", rest)
        or tokens[clause.rest].lower == "que"
    ):
        return
    if any(s.first <= clause.rest + 1 < s.last for s in clause.spans) and len(content) < 5:
        return  # `qué cuesta 45 euros`: nobody starts from the sum
    answer = source.raw(clause.first, clause.close)
    head = next((word for word in clause.words if word not in DET), "")
    if clause.relative or clause.person:
        yield Fact(
            form.who("quién", rest), answer, "person", clause.subject, negated=clause.negated
        )
    elif head in _PEOPLE:
        yield Fact(
            form.who("quiénes", rest), answer, "person", clause.subject, negated=clause.negated
        )
    elif (
        clause.words[0] in ("el", "la", "un", "una")
        and not clause.named
        and not clause.many
        and clause.main not in _SER
    ):
        if sum(len(word) > 3 and word not in PREP for word in clause.words) >= 2:
            yield Fact(
                form.who("qué", rest), answer, "thing", clause.subject, negated=clause.negated
            )
    elif clause.negated and clause.many and clause.words[0] in ("los", "las"):
        yield Fact(form.who("qué cosas", rest), answer, "thing", clause.subject, negated=True)


def _reason(clause: Clause, form: _Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    at = next(
        (
            n
            for n in range(clause.rest, len(tokens) - 3)
            if tokens[n].lower == "porque"
            or (tokens[n].lower in ("ya", "debido") and tokens[n + 1].lower in ("que", "a"))
        ),
        None,
    )
    if at is None or at < clause.rest or at > clause.end + 1 or at > clause.end:
        if at is None or not (clause.end <= at <= clause.end + 1):
            return
    end = end_of(source, at + 1, relatives=True)
    answer = source.raw(at, end).rstrip(" .,")
    if re.search(r"\b(?:esto|estos|estas|este|esta|eso)\b", answer) or len(answer.split()) < 4:
        return
    rest = source.say(clause.rest, min(clause.end, at)).strip(" ,")
    yield Fact(form.ask("por qué", rest), answer, "reason", clause.subject, negated=clause.negated)


def _denied(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`Los muebles no se envían a las islas`: se envían los muebles a las islas."""
    source = clause.source
    if not clause.negated or clause.relative or clause.words[:1] in (["nadie"], ["ninguno"]):
        return
    rest = source.say(clause.rest, clause.end).strip(" ,.")
    group = re.sub(r"^no ", "", clause.group)
    if re.search(r"\b(?:nunca|nada|nadie|ningún|ninguna|ni)\b", rest) or clause.main in (
        "hay",
        "hace",
    ):
        return
    body = (
        f"{clause.subject} {rest}"
        if len(clause.subject.split()) <= 7
        else f"{rest} {clause.subject}"
    )
    question = form.put(group, body, None)
    if len(question.split()) >= 4:
        yield Fact(question, source.text.strip(), "denial", clause.subject, negated=True)


_SAYS = re.compile(
    r"(?:afirm|sostuv|sostien|sugir|sugier|demostr|demuestr|mostr|muestr|dij|dice|anunci|explic|concluy|indic|revel|declar|estim|argument|asegur|confirm|propus|propon|señal|cree|consider|recomend|recomiend|predij)\w*$"
)
_HAVE = frozenset(["ha", "han", "había", "habían"])


def _claim(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`El informe sugiere que …`: qué sugiere."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < len(tokens) and adverb(tokens[at]):
        at += 1
    if (
        not _SAYS.match(clause.last_verb)
        or clause.negated
        or at >= len(tokens) - 4
        or tokens[at].lower != "que"
        or clause.reflexive
    ):
        return
    end = next(
        (
            n
            for n in range(at, len(tokens))
            if tokens[n].text in ";:" or (tokens[n].text in ".!" and n >= len(tokens) - 2)
        ),
        len(tokens),
    )
    if end - at > 42:
        return
    yield Fact(
        form.ask("qué", ""),
        source.raw(at, end).rstrip(" ."),
        "claim",
        clause.subject,
        form.again("qué", ""),
        deep=True,
    )


def _purpose(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`se creó para explorar …`: para qué se creó."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated:
        return
    for n in range(clause.rest, min(clause.end, len(tokens) - 3)):
        if tokens[n].lower in RELATIVE:
            return
        if tokens[n].lower == "para" and infinitive(tokens[n + 1].lower):
            end = end_of(source, n + 1, relatives=True)
            if end - n >= 4:
                rest = source.say(clause.rest, n) if n > clause.rest else ""
                yield Fact(
                    form.ask("para qué", rest),
                    source.raw(n, end).rstrip(" .,"),
                    "reason",
                    clause.subject,
                )
            return


def _counted_subject(clause: Clause, form: _Form) -> Iterator[Fact]:
    source = clause.source
    for span in clause.spans:
        if span.first != clause.first or span.last > clause.close or span.sort != "quantity":
            continue
        rest = source.say(clause.rest, clause.end).strip(" ,")
        behind = source.say(span.last, clause.close)
        if len(rest.split()) >= 2:
            what = f"{many_of(span.unit)} {span.unit} {behind}".strip()
            yield Fact(
                form.put(what, f"{clause.group} {rest}", None),
                source.raw(span.first, span.last),
                "number",
                span.unit,
            )


_THERE = re.compile(r"^hay$", re.IGNORECASE)


def _existing(source: Source) -> Iterator[Fact]:
    """`Hay cinco cabinas para …`: cuántas hay."""
    from ragstone.testset.spans import typed

    tokens = source.tokens
    if len(tokens) < 5 or tokens[0].lower != "hay":
        return
    for span in typed(source.text, tokens, "es"):
        if span.sort == "quantity" and span.first == 1:
            end = end_of(source, span.last)
            rest = source.say(span.last, end).strip(" ,.")
            if rest and rest.split()[0] in PREP:
                question = f"¿{many_of(span.unit).capitalize()} {span.unit} hay {rest}?"
                if _clean(question):
                    yield Fact(question, source.raw(1, span.last), "number", span.unit).at(source)


def _outcome(source: Source) -> Iterator[Fact]:
    """`Si A, B.`: qué pasa si A."""
    tokens = source.tokens
    if len(tokens) < 8 or tokens[0].lower not in ("si", "cuando"):
        return
    comma = next((n for n in range(3, min(22, len(tokens))) if tokens[n].text == ","), None)
    if comma is None or any(
        one.lower in UNCLEAR["es"] - {"le", "les", "su", "sus", "lo"} for one in tokens[1:comma]
    ):
        return
    end = len(tokens) - 1 if tokens[-1].text in ".!" else len(tokens)
    if end - comma < 4 or any(
        one.lower.endswith(("ó", "aron", "ieron", "aba", "aban")) for one in tokens[1:comma]
    ):
        return
    if not any(finite(one.lower) for one in tokens[1:comma]) or tokens[1].lower in ("bien",):
        return
    condition = source.say(0, comma)
    verb = "pasa" if tokens[0].lower == "si" else "ocurre"
    question = f"¿Qué {verb} {condition[:1].lower()}{condition[1:]}?"
    yield Fact(question, source.raw(comma + 1, end), "outcome").at(source)


def _apposition(source: Source) -> Iterator[Fact]:
    """`Joseph Shea, defensor de LOR,`: quién es."""
    tokens = source.tokens
    for a, b in names(tokens, "es", source.names):
        if (
            b + 3 >= len(tokens)
            or tokens[b].text != ","
            or tokens[b + 1].lower not in ("un", "una", "el", "la")
        ):
            continue
        end = next(
            (n for n in range(b + 2, min(b + 14, len(tokens))) if tokens[n].text in ",.;:—"), None
        )
        if (
            end is None
            or end - b < 4
            or any(
                tokens[n].lower in RELATIVE | {"y", "o"} or finite(tokens[n].lower)
                for n in range(b + 1, end)
            )
        ):
            continue
        found = [one.text for one in tokens[a:b]]
        if is_person(found, tokens[a - 1].lower if a else "", source.people) and len(found) > 1:
            yield Fact(
                f"¿Quién es {source.say(a, b)}?",
                source.raw(b + 1, end),
                "definition",
                " ".join(found),
                deep=True,
            ).at(source)
