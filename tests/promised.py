"""The promises: one file each in tests/promises, a table of them after a run, and their pages in the documentation."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "promises"


@dataclass(frozen=True)
class Promise:
    """A promise as its test file states it."""

    number: str
    file: str
    sentence: str
    tried: str


def list_promises() -> list[Promise]:
    """Read the promises from the docstrings of their files."""
    promises = []
    for path in sorted(FOLDER.glob("test_[0-9][0-9]_*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentence, _, tried = text.partition("\n\n")
        promises.append(Promise(path.name[5:7], path.name, sentence, " ".join(tried.split())))
    return promises


def drop_copies(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a test that a promise uses there alone, when its own file is collected too."""
    used = {_locate(item) for item in items if _is_promised(item.nodeid)}
    copies = [item for item in items if not _is_promised(item.nodeid) and _locate(item) in used]
    if copies:
        dropped = set(map(id, copies))
        items[:] = [item for item in items if id(item) not in dropped]
        config.hook.pytest_deselected(items=copies)


def _is_promised(nodeid: str) -> bool:
    return "promises/test_" in nodeid


def _locate(item: pytest.Item) -> object:
    """Where a test stands in the source, which an import into another file does not change."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    return item.nodeid if code is None else (code.co_filename, code.co_firstlineno)


def write_table(reporter: Any) -> None:
    """Print what each promise was put to, when more than one was."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in reporter.stats.get(outcome, ()):
            if _is_promised(getattr(report, "nodeid", "")):
                file = report.nodeid.partition("::")[0].rpartition("/")[2]
                counts.setdefault(file, Counter())[outcome] += 1
    if len(counts) < 2:
        return
    reporter.section("promises")
    for promise in list_promises():
        count = counts.get(promise.file, Counter())
        broken = count["failed"] + count["error"]
        state = "BROKEN" if broken else "held" if count["passed"] else "not run"
        skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
        checks = f"{count['passed'] + broken} checks{skipped}"
        reporter.write_line(f"{promise.number}  {state:8} {checks:24} {promise.sentence}")


def build_pages() -> dict[Path, str]:
    """The pages of the promises, in English and Spanish."""
    promises = list_promises()
    return {
        REPOSITORY / "docs" / "promises.md": _ENGLISH
        + "".join(f"| {p.number} | {p.sentence} | {p.tried} | `{p.file}` |\n" for p in promises),
        REPOSITORY / "docs" / "es" / "promises.md": _SPANISH_HEAD
        + "".join(f"| {p.number} | {_SPANISH[p.number]} | `{p.file}` |\n" for p in promises),
    }


_ENGLISH = """# What we promise

Each promise is a test file in `tests/promises`. `make promises` tries them all, in full, and ends with a table that says which were
held; `make test` tries a sample of each. `python tests/promised.py` writes this page from those files, and a test compares it.

| number | promise | what is tried | test |
| --- | --- | --- | --- |
"""

_SPANISH_HEAD = """# Lo que prometemos

Cada promesa es un fichero de pruebas de `tests/promises`. `make promises` las prueba todas por entero y acaba con una tabla que dice cuáles se
cumplieron; `make test` prueba una muestra de cada una. `python tests/promised.py` escribe esta página, y una prueba la compara. Lo que se intenta
en cada caso está en la [página inglesa](../promises.html).

| número | promesa | prueba |
| --- | --- | --- |
"""

_SPANISH = {
    "01": "Un juicio fallido nunca es una puntuación.",
    "02": "Ninguna media sin su cobertura: lo que no se pudo puntuar baja la cobertura y acota la media; bajo el mínimo, la ejecución está incompleta.",
    "03": "Cada afirmación se juzga una vez, por muchas métricas, muestras y procesos que necesiten el veredicto.",
    "04": "Una ejecución se puede matar en cualquier momento: nada acabado se pierde ni se cuenta dos veces, y solo se pagan de nuevo las llamadas en curso.",
    "05": "Una ejecución reanudada es igual, byte a byte, a la que no se interrumpió; con otros datos u otro plan se rechaza.",
    "06": "Varios procesos pueden compartir un almacén, en SQLite y en PostgreSQL; ninguna escritura se pierde.",
    "07": "Una respuesta guardada se usa solo para la misma pregunta, el mismo juez y los mismos ajustes.",
    "08": "Una cita cuenta solo si está en la fuente, palabra por palabra; lo comprueba el código, no el juez.",
    "09": "El texto evaluado no puede dar órdenes al juez: lo que dice de sí mismo no prueba nada.",
    "10": "Sin telemetría: ninguna orden busca un nombre ni abre una conexión que no se le haya pedido.",
    "11": "Una clave se envía a su servidor y no se escribe en ningún sitio.",
    "12": "El texto ajeno no ejecuta ni carga nada: ni en páginas, ni en Markdown, ni en la terminal.",
    "13": "El servidor del monitor responde solo a quien debe, y sigue abierto cuando alguien intenta cerrarlo.",
    "14": "Lo que el monitor ha confirmado está en el disco.",
    "15": "Un mes tranquilo no trae alarmas: como mucho 0,15 falsas por métrica y mes.",
    "16": "Dos sistemas iguales se llaman distintos como mucho en una de veinte comparaciones, y el intervalo de una diferencia contiene la verdad.",
    "17": "Un millón de muestras se evalúa en 300 MB: la memoria no crece con los datos.",
}


if __name__ == "__main__":
    for path, text in build_pages().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(REPOSITORY)}\n")
