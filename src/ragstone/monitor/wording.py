"""What an alert says, in one sentence, by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PHRASES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "drop": "{metric}{slice} fell from {before:.3f} to {after:.3f} ({change:+.3f}) since {since}{part}",
        "part": ", mostly where {field} is {value} ({before:.3f} → {after:.3f})",
        "slice": " where {field} is {value}",
        "threshold": "{name} {figure} is {value:.4g} over the last {window}: the rule is an alert when {rule}",
        "no_data": "no interaction since {since} ({hours:.0f} h)",
        "no_scores": "no {metric} score since {since} ({hours:.0f} h), though interactions come in",
        "judge_failing": "the judge failed on {share:.0%} of {tries} {metric} judgements; quality is not judged meanwhile",
        "topics": "{share:.0%} of the questions of {day} are unlike those of the reference period ({expected:.0%} would be usual)",
        "languages": "the languages of the questions of {day} differ: {most} is {after:.0%}, was {before:.0%}",
        "lengths": "the questions of {day} differ in length: median {after:.0f} characters, was {before:.0f}",
        "test": "this is a test: alerts of ragstone arrive here",
    },
    "es": {
        "drop": "{metric}{slice} bajó de {before:.3f} a {after:.3f} ({change:+.3f}) desde {since}{part}",
        "part": ", sobre todo donde {field} es {value} ({before:.3f} → {after:.3f})",
        "slice": " donde {field} es {value}",
        "threshold": "{name} {figure} es {value:.4g} en la última ventana de {window}: la regla avisa cuando {rule}",
        "no_data": "ninguna interacción desde {since} ({hours:.0f} h)",
        "no_scores": "ninguna puntuación de {metric} desde {since} ({hours:.0f} h), aunque llegan interacciones",
        "judge_failing": "el juez falló en el {share:.0%} de {tries} juicios de {metric}; entretanto no se juzga la calidad",
        "topics": "el {share:.0%} de las preguntas del {day} no se parece a las del periodo de referencia (lo usual sería {expected:.0%})",
        "languages": "los idiomas de las preguntas del {day} son otros: {most} es el {after:.0%}, antes el {before:.0%}",
        "lengths": "las preguntas del {day} tienen otra longitud: mediana {after:.0f} caracteres, antes {before:.0f}",
        "test": "esto es una prueba: los avisos de ragstone llegan aquí",
    },
}  # fmt: skip

LONGEST_VALUE = 120
"""Characters of a field's name or value in a sentence."""

STATES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "ok": "ok", "pending": "pending", "firing": "firing", "resolved": "resolved",
        "no_data": "no data", "judge_failing": "judge failing", "learning": "learning",
        "dropped": "dropped",
    },
    "es": {
        "ok": "bien", "pending": "pendiente", "firing": "activa", "resolved": "resuelta",
        "no_data": "sin datos", "judge_failing": "el juez falla", "learning": "aprendiendo",
        "dropped": "retirada",
    },
}  # fmt: skip


def one_line(text: str, most: int = 2000) -> str:
    """A text without line breaks and control characters: neither a log nor a terminal takes orders from it."""
    kept = "".join(one if one.isprintable() else " " for one in text[: 2 * most])
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def sentence(facts: Mapping[str, Any], language: str = "en") -> str:
    """What an alert's facts say; `phrase` among them names the sentence."""
    known = _PHRASES.get(language, _PHRASES["en"])
    filled = _safe(facts)
    filled["slice"] = known["slice"].format(**filled) if facts.get("field") else ""
    part = facts.get("part")
    filled["part"] = known["part"].format(**_safe(part)) if part else ""
    return known[str(facts["phrase"])].format(**filled)


def _safe(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts whose texts, names and values of meta fields among them, are short and on one line."""
    return {
        key: one_line(value, LONGEST_VALUE) if isinstance(value, str) else value
        for key, value in facts.items()
    }
