"""The judge's page in each language: figures are measured once, in English, and said in Spanish here.

python bench/judge/pages.py: carry the figures of the English page over and ship both pages; nothing is measured."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEARNED = ROOT / "src" / "ragstone" / "judges" / "offline" / "learned"
ENGLISH, SPANISH = ROOT / "docs" / "judge-offline.md", ROOT / "docs" / "es" / "judge-offline.md"
SHIPPED = {ENGLISH: LEARNED / "quality.md", SPANISH: LEARNED / "quality.es.md"}
"""The same pages, for `ragstone judge quality` and reports."""
BEGIN, END = "<!-- figures: bench/judge/evaluate.py -->", "<!-- /figures -->"


def main() -> None:
    """Both pages with the figures that the English one has now."""
    write(figures(ENGLISH))


def write(tables: str) -> None:
    """Put the tables into both pages; English first, as it needs no phrase that may be missing here."""
    _put(ENGLISH, tables)
    _put(SPANISH, in_spanish(tables))


def figures(page: Path) -> str:
    """The tables that stand between the marks of a page."""
    return page.read_text("utf-8").split(BEGIN, 1)[1].split(END, 1)[0].strip()


def _put(page: Path, tables: str) -> None:
    head, rest = page.read_text("utf-8").split(BEGIN, 1)
    text = f"{head}{BEGIN}\n{tables}\n{END}{rest.split(END, 1)[1]}"
    for copy in (page, SHIPPED[page]):
        copy.write_text(text, "utf-8")


def in_spanish(tables: str) -> str:
    """The tables in Spanish words and with Spanish decimals; a text without a phrase stops it."""
    missing: list[str] = []
    lines = [
        "|".join(_said(part, missing) for part in line.split("|")) for line in tables.splitlines()
    ]
    if missing:
        raise SystemExit(
            f"no Spanish for {missing}: add to PHRASES and run python bench/judge/pages.py"
        )
    return "\n".join(lines)


_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?%?")
_LETTER = re.compile(r"[^\W\d_]")


def _said(part: str, missing: list[str]) -> str:
    """A heading, paragraph or cell, its marks and spaces kept."""
    text = part.strip(" *#")
    key = _NUMBER.sub("#", text)
    if not text:
        return part
    if key not in PHRASES and key not in SAME and _LETTER.search(key):
        missing.append(key)
    numbers = [one.replace(".", ",").replace("%", " %") for one in _NUMBER.findall(text)]
    return part.replace(text, PHRASES.get(key, key).replace("#", "{}").format(*numbers))


SAME = frozenset(
    {
        "en", "es", "nli", "AUROC", "F1", "RAGTruth", "# s", "# MB",
        "ragtruth_test", "summedits", "factcheckgpt", "faithdial_audit", "wice", "inferes", "summac_extra",
        "faithfulness + hallucination_rate",
    }
)  # fmt: skip
"""Names that are the same in both languages."""

PHRASES = {
    "Sets that no weight has seen (leave one set out)": "Conjuntos que ningún peso ha visto (se deja uno fuera cada vez)",
    "Other documents of the same sets": "Otros documentos de los mismos conjuntos",
    "set": "conjunto",
    "rows": "filas",
    "containment": "inclusión",
    "value": "valor",
    "probability": "probabilidad",
    "balanced accuracy": "exactitud equilibrada",
    "calibration error": "error de calibración",
    "mean of the seven": "media de los siete",
    "Hand-written pairs of a true and a false claim": "Pares escritos a mano de una afirmación verdadera y una falsa",
    "language": "idioma",
    "true claims right": "aciertos en las verdaderas",
    "false claims right": "aciertos en las falsas",
    "containment: true": "inclusión: verdaderas",
    "containment: false": "inclusión: falsas",
    "Other kinds of question": "Otros tipos de pregunta",
    "`grades` and `score` in context questions: the metric as reported (grades #, #, # in two wordings) and the number behind it.": (
        "`notas` y `puntuación` en las preguntas sobre contextos: la métrica tal como se informa (notas #, # y # con dos redacciones) "
        "y el número que hay detrás."
    ),
    "question": "pregunta",
    "measure": "medida",
    "grades": "notas",
    "score": "puntuación",
    "with similarity #": "con similitud (peso #)",
    "similarity alone": "solo similitud",
    "relevant chunk against hard negative (msmarco)": "fragmento relevante frente a negativo difícil (msmarco)",
    "right paragraph against a random one (xquad, en)": "párrafo correcto frente a uno al azar (xquad, en inglés)",
    "the same, es": "lo mismo, en español",
    "Spanish question, English paragraph": "pregunta en español, párrafo en inglés",
    "English question, Spanish paragraph": "pregunta en inglés, párrafo en español",
    "answerable against unanswerable (clapnq)": "con respuesta frente a sin respuesta (clapnq)",
    "answer correctness against people (nq301)": "corrección de la respuesta según personas (nq301)",
    "right answer against another question's (xquad sentences, en)": "respuesta correcta frente a la de otra pregunta (frases de xquad, en inglés)",
    "Answers made to deceive, against the true answer": "Respuestas hechas para engañar, frente a la verdadera",
    "the answer …": "la respuesta…",
    "pairs": "pares",
    "lower faithfulness": "menor faithfulness",
    "lower with answer_relevance added": "menor al sumar answer_relevance",
    "copies the question": "copia la pregunta",
    "words in random order": "tiene las palabras en desorden",
    "flips a negation": "invierte una negación",
    "swaps two names": "intercambia dos nombres",
    "changes one digit": "cambia un dígito",
    "says as the context states": "dice «como indica el contexto»",
    "Speed (bench/judge/speed.py)": "Velocidad (bench/judge/speed.py)",
    "on one core, # chunks of # words, answers of # sentences": "en un núcleo, # fragmentos de # palabras, respuestas de # frases",
    "measured": "medido",
    "# samples a CPU second": "# muestras por segundo de CPU",
    "six metrics": "seis métricas",
    "first verdict after process start": "primer veredicto desde que arranca el proceso",
    "peak memory": "memoria máxima",
}
"""English to Spanish; # stands for a number, which keeps its place."""


if __name__ == "__main__":
    main()
