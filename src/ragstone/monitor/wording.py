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


def sentence(facts: Mapping[str, Any], language: str = "en") -> str:
    """What an alert's facts say; `phrase` among them names the sentence."""
    known = _PHRASES.get(language, _PHRASES["en"])
    filled = dict(facts)
    filled["slice"] = known["slice"].format(**facts) if facts.get("field") else ""
    part = facts.get("part")
    filled["part"] = known["part"].format(**part) if part else ""
    return known[str(facts["phrase"])].format(**filled)
