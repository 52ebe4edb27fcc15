"""What the offline judge says of its verdicts, in the language of the claim: English or Spanish."""

from __future__ import annotations

_TEXTS: dict[str, tuple[str, str]] = {
    "no_source": ("there is no source", "no hay ninguna fuente"),
    "empty": ("it states nothing that could be looked up", "no afirma nada que se pueda comprobar"),
    "supported": (
        "found in the source (probability {p:.2f})",
        "está en la fuente (probabilidad {p:.2f})",
    ),
    "missing": (
        "not in the sources: {words} (probability of support {p:.2f})",
        "no está en las fuentes: {words} (probabilidad de apoyo {p:.2f})",
    ),
    "unlike": (
        "its words are in the sources, but not said together (probability of support {p:.2f})",
        "sus palabras están en las fuentes, pero no dichas juntas (probabilidad de apoyo {p:.2f})",
    ),
    "number": ("the source says {theirs}, not {mine}", "la fuente dice {theirs}, no {mine}"),
    "date": ("the source gives {theirs}, not {mine}", "la fuente da {theirs}, no {mine}"),
    "name": ("the source names {theirs}, not {mine}", "la fuente nombra {theirs}, no {mine}"),
    "swap": (
        "the source has {theirs} and {mine} the other way round",
        "en la fuente {theirs} y {mine} están al revés",
    ),
    "unit": ("the source says {theirs}, not {mine}", "la fuente dice {theirs}, no {mine}"),
    "opposite": (
        "the source says {theirs!r}, not {mine!r}",
        "la fuente dice {theirs!r}, no {mine!r}",
    ),
    "denied": (
        "the claim denies what the source says: {mine!r}",
        "la afirmación niega lo que dice la fuente: {mine!r}",
    ),
    "asserted": (
        "the source denies it: {theirs!r}",
        "la fuente lo niega: {theirs!r}",
    ),
    "record": ("the record says {theirs}", "el registro dice {theirs}"),
    "useful_none": ("it shares no words that matter", "no comparte palabras que importen"),
    "useful_found": (
        "relevance {value:.2f}; closest sentence: {quote}",
        "relevancia {value:.2f}; frase más cercana: {quote}",
    ),
}


def say(key: str, language: str, **parts: object) -> str:
    """The sentence in Spanish for Spanish claims, else in English."""
    return _TEXTS[key][language == "es"].format(**parts)
