"""Traps and probes: invented statements and names that no material holds, to expose a judge that agrees to anything. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.asks.fences import KeyedRandom


def make_trap(key: str, language: str | None, sources: Sequence[str]) -> str:
    """Return an invented statement that no source mentions; a different one for each key and process."""
    spanish = (language or "").lower().startswith("es")
    patterns, things = (_PATTERNS_ES, _THINGS_ES) if spanish else (_PATTERNS_EN, _THINGS_EN)
    random = KeyedRandom(key)
    name = _make_unknown_name(random, sources)
    return random.choice(patterns).format(
        name=name,
        other=_make_name(random),
        thing=random.choice(things),
        number=17 + random.number(960),
        year=1783 + random.number(230),
    )


def make_name(key: str, sources: Sequence[str]) -> str:
    """Return an invented name that no source mentions."""
    return _make_unknown_name(KeyedRandom(key), sources)


def _make_unknown_name(random: KeyedRandom, sources: Sequence[str]) -> str:
    folded = [source.lower() for source in sources]
    name = _make_name(random)
    while any(name.lower() in source for source in folded):
        name = _make_name(random)
    return name


def _make_name(random: KeyedRandom) -> str:
    """Return a pronounceable name that belongs to nobody."""
    parts = [random.choice(_SYLLABLES) for _ in range(2 + random.number(2))]
    return "".join(parts).capitalize() + random.choice(_ENDINGS)


_SYLLABLES = (
    "bra", "cor", "del", "dor", "fal", "fen", "gar", "gri", "hal", "jor", "kel", "lam", "lor",
    "mar", "men", "nor", "pel", "quin", "ras", "sel", "tam", "tor", "ul", "val", "ver", "wex", "zan",
)  # fmt: skip
_ENDINGS = ("by", "dale", "mont", "sted", "vik", "ford", "ano", "eira", "berg", "in")
_THINGS_EN = ("clocks", "bridges", "violins", "sheep", "ferries", "paintings", "wells", "maps")
_THINGS_ES = ("relojes", "puentes", "violines", "ovejas", "barcas", "cuadros", "pozos", "mapas")
_PATTERNS_EN = (
    "{name} owned {number} {thing} in {year}.",
    "The mayor of {name} sold {number} {thing} to {other}.",
    "In {year}, {name} was the largest maker of {thing} in {other}.",
    "The {name} company was founded in {year} with {number} workers.",
    "{number} {thing} were lost when the {name} archive burned down in {year}.",
    "{name} and {other} signed a treaty about {thing} in {year}.",
    "The river {name} is {number} kilometres long.",
    "The museum of {name} was named after {other} in {year}.",
)
_PATTERNS_ES = (
    "{name} poseía {number} {thing} en {year}.",
    "El alcalde de {name} vendió {number} {thing} a {other}.",
    "En {year}, {name} era el mayor fabricante de {thing} de {other}.",
    "La compañía {name} se fundó en {year} con {number} trabajadores.",
    "Se perdieron {number} {thing} cuando ardió el archivo de {name} en {year}.",
    "{name} y {other} firmaron un tratado sobre {thing} en {year}.",
    "El río {name} mide {number} kilómetros.",
    "El museo de {name} recibió el nombre de {other} en {year}.",
)
