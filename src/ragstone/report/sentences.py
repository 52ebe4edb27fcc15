"""Reasons and warnings that metrics and statistics give in English, said in the language of the report.

A run stores these sentences as they were first said. Those that this package writes are known here by their pattern; any
other (a judge's own words, a user's metric) stays as it is."""

from __future__ import annotations

import re
from functools import lru_cache

SENTENCES: dict[str, tuple[tuple[str, str], ...]] = {
    "es": (
        (r"the question is empty", "la pregunta está vacía"),
        (r"the answer is empty", "la respuesta está vacía"),
        (r"the reference is empty", "la referencia está vacía"),
        (r"the answer makes no claim", "la respuesta no afirma nada"),
        (r"the reference makes no claim", "la referencia no afirma nada"),
        (r"the answer has no citation marker", "la respuesta no contiene marcas de cita"),
        (r"no citation marker stands with a claim", "ninguna marca de cita acompaña a una afirmación"),
        (r"points at no chunk", "no apunta a ningún fragmento"),
        (r"nothing was retrieved", "no se recuperó nada"),
        (r"there is no text to support it", "no hay ningún texto que la respalde"),
        (r"the judge calls the answer evasive", "el juez considera evasiva la respuesta"),
        (r"the judge says covered, but its quote is not in the answer", "el juez lo da por cubierto, pero su cita no está en la respuesta"),
        (r"cosine (\S+) with the question", r"coseno \1 con la pregunta"),
        (r"weight (\S+)", r"peso \1"),
        (r"the contexts are ids without texts; give each chunk its text", "los contextos son identificadores sin texto; dé a cada fragmento su texto"),
        (r"no score for (.+)", r"no hay puntuación de \1"),
        (r"the sample has no (.+)", r"la muestra no tiene \1"),
        (r"the sample records no (.+)", r"la muestra no registra \1"),
        (r"the sample's (\S+) is (.+), which is not a number", r"el campo \1 de la muestra es \2, que no es un número"),
        (r"no document has a grade above 0", "ningún documento tiene un grado mayor que 0"),
        (r"no relevant document is given", "no se indica ningún documento relevante"),
        (r"a retrieved chunk has no document id to compare with `relevant`; give the ids of the contexts, e.g. as (.+)", r"un fragmento recuperado no tiene identificador que comparar con `relevant`; dé los identificadores de los contextos, p. ej. como \1"),
        (r"whether the question can be answered is not said; give `reference`, or `answerable` or `type: \"impossible\"` in meta", 'no consta si la pregunta tiene respuesta; dé `reference`, o bien `answerable` o `type: "impossible"` en meta'),
        (r"the question can be answered", "la pregunta tiene respuesta"),
        (r"the run's deadline of (\S+) s has passed", r"ha pasado el plazo de \1 s de la ejecución"),
        (r"the budget of (\S+) calls is spent", r"se ha agotado el presupuesto de \1 llamadas"),
        (r"the budget of (\S+) USD would be exceeded \((\S+) spent\)", r"se superaría el presupuesto de \1 USD (gastados: \2)"),
        (r"nobody answers at (\S+); is the server running\?", r"nadie responde en \1; ¿está en marcha el servidor?"),
        (r"the host '(\S+)' is not known; check base_url and the network", r"no se conoce el servidor '\1'; revise base_url y la red"),
        (r"the certificate of (\S+) is not trusted \((.+)\); name your own in SSL_CERT_FILE", r"el certificado de \1 no es de confianza (\2); indique el suyo en SSL_CERT_FILE"),
        (r"no secure connection to (\S+); does it speak http:// instead of https://\?( \(\d+ tries\))?", r"no hay conexión segura con \1; ¿habla http:// en vez de https://?"),
        (r"(\S+) closed the connection without a reply \((\d+) tries\)", r"\1 cerró la conexión sin responder (\2 intentos)"),
        (r"no complete reply from (\S+) within (\S+) s \((\d+) tries\)", r"\1 no dio una respuesta completa en \2 s (\3 intentos)"),
        (r"the judge declined to answer", "el juez se negó a responder"),
        (r"(\S+) clusters: under (\S+) the interval may be too narrow", r"\1 grupos: con menos de \2 el intervalo puede ser demasiado estrecho"),
        (r"1 value: an interval needs at least 2", "1 valor: un intervalo necesita al menos 2"),
        (r"1 cluster: an interval needs at least 2", "1 grupo: un intervalo necesita al menos 2"),
        (r"all values are equal and the metric has no bounds: no interval can be given", "todos los valores son iguales y la métrica no tiene límites: no se puede dar un intervalo"),
        (r"values from (\S+) to (\S+) leave the declared bounds (\S+) to (\S+); the interval ignores the bounds", r"hay valores de \1 a \2 fuera de los límites declarados, de \3 a \4; el intervalo no los tiene en cuenta"),
        (r"values beyond 1e100: no mean or interval can be calculated", "hay valores mayores que 1e100: no se puede calcular ni la media ni el intervalo"),
    )
}  # fmt: skip


def translated(sentence: str, language: str) -> str:
    """The sentence in the language when it is one of ours, else as it is; a count of samples at its end is kept."""
    if language not in SENTENCES or len(sentence) > LONGEST:
        return sentence
    counted = _COUNT.fullmatch(sentence)
    if counted:
        noun = "muestra" if counted[2] == "1" else "muestras"
        return f"{translated(counted[1], language)} ({counted[2]} {noun})"
    for pattern, wording in _compiled(language):
        match = pattern.fullmatch(sentence)
        if match:
            return match.expand(wording)
    return sentence


LONGEST = 400
"""Characters of the longest sentence that could be one of ours."""

_COUNT = re.compile(r"(.+) \((\d+) samples?\)", re.DOTALL)


@lru_cache
def _compiled(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(p), wording) for p, wording in SENTENCES.get(language, ()))
