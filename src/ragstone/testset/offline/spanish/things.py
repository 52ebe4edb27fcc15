"""Spanish questions for what a clause is about: who, what, what it is, what it consists of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.forms import PERIODS, Form, inner
from ragstone.testset.offline.spanish.groups import end_of
from ragstone.testset.offline.spanish.people import is_people
from ragstone.testset.offline.spanish.verbs import participle
from ragstone.testset.offline.spanish.words import BEFORE_NOUN, DET, PREP, RELATIVE, adverb
from ragstone.testset.spans import Span, is_number, is_person, plural
from ragstone.testset.vocabulary import UNCLEAR, word_set


def agent(clause: Clause, form: Form) -> Iterator[Fact]:
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
        parts = inner(clause, at, b)
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


def definition(clause: Clause, form: Form) -> Iterator[Fact]:
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
                and len(clause.words) <= 7
            )
        )
        if person or (
            re.search(
                r"(?:ólogo|óloga|ista|tor|tora|ador|adora|ógrafo|ero)s?\b",
                answer.split(" de ")[0] + " " + answer[:40],
            )
            and subject[:1].isupper()
            and verb in ("fue", "era")
        ):
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
    elif _SINGLED_OUT.search(subject) or (clause.words and _informative(clause)):
        what = "cuál" if verb in ("es", "era", "fue") else "cuáles"
        yield Fact(form.put(what, f"{verb} {subject}", None), answer, "definition", subject)


_NO_OBJECT = re.compile(
    r"(?:es|son|era|eran|fue|fueron|está|están|estaba|estaban|parece|parecen|cuesta|cuestan|hay|va|van|llega|llegó|llegan|vive|vivió|nació|murió|"
    r"existe|existen|ocurre|ocurrió|dura|duran|tarda|tardan|sale|salen|salió|salieron|baja|sube|queda|quedan|permanece|aumentó|creció|resulta|resultó|hace|hizo|dijo|dice|afirma|afirmó|sugiere|sugirió)$"
)


def _counts(span: Span, rest: int) -> bool:
    """Whether a span makes the object a number or a date, and is not just a number somewhere in it."""
    return span.first <= rest + 1 or span.sort in ("date", "clock", "day", "money")


def thing(clause: Clause, form: Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if (
        clause.rest >= clause.end
        or clause.negated
        or _NO_OBJECT.match(clause.last_verb)
        or clause.reflexive
        or not clause.told
    ):
        return
    if (participle(clause.last_verb) and clause.main not in _HAVE) or re.match(
        r"(?:se?r|estar)$", clause.last_verb
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
    if participle(start.lower) or is_number(start, "es") or adverb(start) or start.lower in PREP:
        return
    end = next(
        (
            n
            for n in range(clause.rest + 1, clause.end)
            if tokens[n].lower in (PREP - {"de", "del"}) | RELATIVE
        ),
        clause.end,
    )
    under = end < clause.end and tokens[end].lower in ("si", "cuando")
    if end < clause.end and tokens[end].lower in RELATIVE and not under:
        end = clause.end
    while end > clause.rest and (adverb(tokens[end - 1]) or tokens[end - 1].text == ","):
        end -= 1
    if (
        end - clause.rest < 2
        or end - clause.rest > 14
        or any(
            s.first < end and s.last > clause.rest and _counts(s, clause.rest) for s in clause.spans
        )
    ):
        return
    if start.lower in ("todo", "toda", "todos", "todas", "cada") or tokens[
        end - 1
    ].lower in PERIODS | {"día", "año", "mes", "semana", "hora"}:
        return
    if any(
        a >= clause.rest
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    ):
        return
    if end < clause.end and participle(tokens[end - 1].lower):
        return
    parts = inner(clause, clause.rest, end)
    if parts is None:
        return
    loose = end < clause.end and (
        tokens[end].lower not in ("en", "durante", "desde", "tras", "hasta", "si", "cuando")
        or is_number(tokens[end + 1], "es")
        or clause.end - end > 8
    )
    # what follows may belong to the object, so the question does without it
    rest = "" if loose else parts[1]
    listed = any(tokens[n].text == "," for n in range(clause.rest, end))
    yield Fact(
        form.ask("qué", rest), source.raw(clause.rest, end), "list" if listed else "thing", clause.subject,
        form.again("qué", rest), form.why("", rest), clause.negated,
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


def complement(clause: Clause, form: Form) -> Iterator[Fact]:
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


def subject(clause: Clause, form: Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if not clause.words or clause.rest >= clause.end:
        return
    rest = source.say(clause.rest, clause.end).strip(" ,")
    content = [
        one
        for one in tokens[clause.rest : clause.end]
        if (one.word and (len(one.text) > 3 or one.text.isupper())) or one.text[0].isdigit()
    ]
    if (
        len(content) < 2
        or re.search(r"\b(?:su|sus|ellos|ella|él)\b", rest)
        or tokens[clause.rest].lower == "que"
    ):
        return
    if any(s.first <= clause.rest + 1 < s.last for s in clause.spans) and len(content) < 5:
        return  # `qué cuesta 45 euros`: nobody starts from the sum
    if any(s.first < clause.close and s.last > clause.first for s in clause.spans):
        return  # a number in the subject is asked for as such
    if (
        sum(
            s.sort == "money" and s.first >= clause.rest and s.last <= clause.end
            for s in clause.spans
        )
        > 1
        and " y " in rest
    ):
        return  # `qué cuesta 36 euros y el mensual 6 euros`
    what, sort = _asks_for(clause)
    if what:
        answer = source.raw(clause.first, clause.close)
        yield Fact(form.who(what, rest), answer, sort, clause.subject, negated=clause.negated)


_NO_SUBJECT = re.compile(r"(?:inclu|conten|contien|signific|constitu|abarc|tien|tení)\w*$")
"""Verbs from whose object nobody asks back."""


def _asks_for(clause: Clause) -> tuple[str, str]:
    """The words that ask for the subject, and the sort of the answer; empty when none fits."""
    inner = [word for word in clause.words if word not in DET]
    head = next((word for word in inner if word not in BEFORE_NOUN), "")
    bare = clause.main in _SER and clause.rest == clause.finite + 1
    joined = "y" in clause.words or "e" in clause.words
    if clause.relative or clause.person:
        return "quién", "person"
    if is_people(head) and clause.many and not bare:
        return "quiénes", "person"
    if bare or joined or not head or _NO_SUBJECT.match(clause.last_verb):
        return "", "thing"
    first = clause.source.tokens[clause.rest].lower
    after = first if clause.main in _SER | {"está", "están", "estaba"} else ""
    agrees = not re.search(r"(?:ad|id)(?:a|as|os)$|[^r]as?$|os$", after) and not re.search(
        r"(?:ad|id)(?:a|as|os)$", clause.last_verb
    )
    if head in _CLASSES and not clause.many and inner[0] == head and _named_inside(clause):
        return f"qué {head}", "name"
    own = clause.source.tokens[clause.first + 1 if clause.words[0] in DET else clause.first]
    if own.capital and clause.named:
        return (f"qué {head}", "name") if head in _CLASSES and not clause.many else ("", "name")
    if clause.words[0] not in DET and not (clause.many and plural(head, "es")):
        return "", "thing"
    if clause.words[0] in DET - _ARTICLES - {"algunos", "algunas", "muchos", "muchas", "cada"}:
        return "", "thing"
    if not _informative(clause):
        plain = clause.negated and clause.many and clause.words[0] in ("los", "las")
        return ("qué cosas", "thing") if plain and agrees else ("", "thing")
    if clause.many or not agrees:
        noun = head if head in inner[:2] and _noun_first(inner) else ""
        return (
            (f"qué {noun}", "thing")
            if noun and plural(noun, "es") == clause.many
            else ("", "thing")
        )
    return "qué", "thing"


_ARTICLES = frozenset(["el", "la", "los", "las", "un", "una", "unos", "unas"])
_CLASSES = word_set(
    "universidad río partido guerra compañía ley tratado iglesia imperio dinastía museo consejo "
    "comité comisión tribunal parlamento instituto sociedad asociación academia batalla escuela "
    "agencia ministerio hospital estación puente banco convenio bolsa familia tribu ciudad condado "
    "distrito provincia reino república parque calle biblioteca teatro castillo edificio hotel "
    "revista periódico diario protocolo misión ejército flota movimiento junta oficina centro "
    "fundación unión club equipo isla lago bosque teoría teorema conjetura algoritmo conferencia "
    "directiva convención constitución asamblea aeropuerto puerto canal galería desierto valle "
    "región huracán tormenta torre premio colegio facultad empresa corporación refugio senda sala"
)


def _named_inside(clause: Clause) -> bool:
    """Whether a name stands behind the noun: `la familia Drengot`."""
    tokens = clause.source.tokens[clause.first : clause.close]
    return any(one.capital for one in tokens[2:])


def _noun_first(inner: list[str]) -> bool:
    """Whether the noun comes first, so that `qué` can stand before it and what follows is left to be asked."""
    return bool(inner) and inner[0] not in BEFORE_NOUN and len(inner) > 1


def _informative(clause: Clause) -> bool:
    """Two words of content or more: `el hospital` as an answer tells nobody anything."""
    return sum(len(word) > 3 and word not in PREP | DET for word in clause.words) >= 2


_HAVE = frozenset(["ha", "han", "había", "habían"])
