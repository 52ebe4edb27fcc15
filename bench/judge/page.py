"""The tables of docs/judge-offline.md, of its Spanish page and of the copies in the package, and
the figures of reports."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.judge.pairs import BLIND

ROOT = Path(__file__).resolve().parents[2]
LEARNED = ROOT / "src/ragstone/judges/offline/learned"
PAGES = {
    "en": (ROOT / "docs/judge-offline.md", LEARNED / "quality.md"),
    "es": (ROOT / "docs/es/judge-offline.md", LEARNED / "quality.es.md"),
}
"""Language → the page of the docs and its copy in the package."""
HARD = "hard pairs on one subject"
_SPANISH = {
    "set": "conjunto", "value shown": "valor mostrado", "probability": "probabilidad", "containment": "palabras contenidas",
    "ten features": "diez rasgos", "balanced accuracy": "exactitud equilibrada", "true accepted": "ciertas aceptadas",
    "false caught": "falsas detectadas", "mean": "media", "ragtruth: JSON contexts": "ragtruth: contextos JSON",
    "rule": "regla", "what it catches": "qué detecta", "fires": "veces", "right": "acierta", "on pairs": "en pares",
    "question": "pregunta", "judge": "juez", "plain way": "forma simple", "AUROC": "AUROC", "right on pairs": "acierta en pares",
    "relevant chunk or hard negative (MS MARCO)": "fragmento relevante o negativo difícil (MS MARCO)",
    "passage that answers or not (CLAP NQ)": "pasaje que responde o no (CLAP NQ)",
    "paragraph or its neighbour (XQuAD en)": "párrafo o su vecino (XQuAD en)",
    "paragraph or its neighbour (XQuAD es)": "párrafo o su vecino (XQuAD es)",
    "answer or another question's (XQuAD en)": "respuesta o la de otra pregunta (XQuAD en)",
    "answer or another question's (XQuAD es)": "respuesta o la de otra pregunta (XQuAD es)",
    "answer or another statement on the subject (en)": "respuesta u otra frase sobre el tema (en)",
    "answer or another statement on the subject (es)": "respuesta u otra frase sobre el tema (es)",
    "claims in": "afirmaciones en", "English": "inglés", "Spanish": "español", "wrong caught": "falsas detectadas",
    "AUROC of containment": "AUROC de las palabras contenidas",
    "short answer that people accept (NQ)": "respuesta breve que se acepta (NQ)",
    "text or the same jumbled, doubled or cut off": "texto o el mismo revuelto, repetido o cortado",
    "shared words": "palabras comunes", "cosine": "coseno", "token F1": "F1 de palabras", "constant": "constante",
}  # fmt: skip
_CATCHES = {
    "figures": ("another number, date, time or amount", "otro número, fecha, hora o importe"),
    "negation": ("one of both denies it", "uno de los dos lo niega"),
    "quantifiers": ("all, some, none; must, may", "todos, algunos, ninguno; debe, puede"),
    "relations": ("a comparison or an order in time turned round", "una comparación o un orden invertidos"),
    "opposites": ("a word for its opposite", "una palabra por su contraria"),
}  # fmt: skip


def write_page(
    sets: Mapping[str, Mapping[str, float]],
    rules: Mapping[str, Mapping[str, int]],
    paired: Mapping[str, Mapping[str, Any]],
    others: Mapping[str, Mapping[str, float]],
) -> None:
    """Write the tables into both pages, copy them into the package, and write the figures that
    reports show."""
    for language, (page, copy) in PAGES.items():
        tables = {
            "sets": _format_sets(sets, language),
            "rules": _format_rules(rules, paired, language),
            "pairs": _format_pairs(paired[BLIND.name], language),
            "others": _format_others(others, language),
        }
        text = page.read_text("utf-8")
        for name, table in tables.items():
            begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
            text = re.sub(f"{begin}.*?{end}", f"{begin}\n{table}\n{end}", text, flags=re.DOTALL)
        page.write_text(text, "utf-8")
        shutil.copyfile(page, copy)
    (LEARNED / "quality.json").write_text(json.dumps(_list_quality(sets, others), indent=1) + "\n")


def _say(text: str, language: str) -> str:
    return _SPANISH.get(text, text) if language == "es" else text


def _format_table(heading: Sequence[str], rows: Sequence[Sequence[str]], language: str) -> str:
    lines = [" | ".join(_say(name, language) for name in heading)]
    lines.append(" | ".join(["---", *["---:"] * (len(heading) - 1)]))
    lines += [" | ".join(row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def _figure(value: float, language: str) -> str:
    return f"{value:.2f}".replace(".", "," if language == "es" else ".")


def _format_sets(sets: Mapping[str, Mapping[str, float]], language: str) -> str:
    heading = [
        "set",
        "value shown",
        "probability",
        "containment",
        "ten features",
        "balanced accuracy",
    ]
    rows = [
        [_say(name, language), *(_figure(found[key], language) for key in heading[1:])]
        for name, found in sets.items()
    ]
    return _format_table(heading, rows, language)


def _format_rules(
    rules: Mapping[str, Mapping[str, int]], paired: Mapping[str, Mapping[str, Any]], language: str
) -> str:
    rows = []
    for name, found in rules.items():
        on_pairs = [
            each["rules"][name]
            for languages in paired.values()
            for each in languages.values()
            if name in each["rules"]
        ]
        right, fires = (
            sum(each["right"] for each in on_pairs),
            sum(each["fires"] for each in on_pairs),
        )
        joint = "de" if language == "es" else "of"
        rows.append(
            [
                f"{name}: {_CATCHES[name][language == 'es']}",
                str(found["fires"]),
                f"{100 * found['right'] // max(found['fires'], 1)} %",
                f"{right} {joint} {fires}",
            ]
        )
    return _format_table(["rule", "fires", "right", "right on pairs"], rows, language)


def _format_pairs(found: Mapping[str, Any], language: str) -> str:
    rows = [
        [
            _say({"en": "English", "es": "Spanish"}[name], language),
            f"{each['true accepted']:.0%}".replace("%", " %"),
            f"{each['false caught']:.0%}".replace("%", " %"),
            _figure(each["auroc"], language),
            _figure(each["containment auroc"], language),
        ]
        for name, each in found.items()
    ]
    heading = ["claims in", "true accepted", "wrong caught", "AUROC", "AUROC of containment"]
    return _format_table(heading, rows, language)


def _format_others(others: Mapping[str, Mapping[str, float]], language: str) -> str:
    rows = []
    for name, found in others.items():
        plain = {key: value for key, value in found.items() if key != "judge"}
        best = max(plain, key=lambda key: plain[key])
        cell = f"{_figure(plain[best], language)} ({_say(best, language)})"
        rows.append([_say(name, language), _figure(found["judge"], language), cell])
    return _format_table(["question", "judge", "plain way"], rows, language)


def _list_quality(
    sets: Mapping[str, Mapping[str, float]], others: Mapping[str, Mapping[str, float]]
) -> dict[str, list[dict[str, Any]]]:
    """What a report says of a metric: data set, language, rows, AUROC and balanced accuracy."""

    def line(
        data: str, language: str, rows: int, area: float, accuracy: float | None
    ) -> dict[str, Any]:
        rounded = None if accuracy is None else round(accuracy, 3)
        return {
            "data": data,
            "language": language,
            "rows": rows,
            "auroc": round(area, 3),
            "accuracy": rounded,
        }

    def support(name: str, data: str, language: str, rows: int) -> dict[str, Any]:
        found = sets[name]
        return line(data, language, rows, found["value shown"], found["balanced accuracy"])

    def other(start: str, data: str, language: str, rows: int) -> dict[str, Any]:
        found = next(found for name, found in others.items() if name.startswith(start))
        return line(data, language, rows, found["judge"], None)

    return {
        "support": [
            support("ragtruth_test", "RAGTruth", "en", 1626),
            support("inferes", "InferES", "es", 3689),
        ],
        "chunks": [
            other("relevant chunk", "MS MARCO, hard negatives", "en", 240),
            other("paragraph or its neighbour (XQuAD es)", "XQuAD, neighbours", "es", 400),
        ],
        "correctness": [other("short answer", "NQ-open", "en", 899)],
        "relevance": [
            other("answer or another question's (XQuAD en)", "XQuAD", "en", 400),
            other("answer or another statement on the subject (en)", HARD, "en", 60),
            other("answer or another question's (XQuAD es)", "XQuAD", "es", 400),
            other("answer or another statement on the subject (es)", HARD, "es", 60),
        ],
    }
