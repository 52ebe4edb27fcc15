"""Test sets of the questions that documents ask themselves: what is found in a folder, and memory with 10^3 and
10^5 documents.

    python -m bench.testsets FOLDER [--lang es]     each question of the folder's pages with its answer, to be
    counted by hand
    python -m bench.testsets --memory [--documents 100000]

--memory runs `ragstone generate` on that many generated documents in a process of its own and prints its peak and
seconds."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from ragstone.data.corpora import documents as built_in
from ragstone.data.documents import Document, read_documents
from ragstone.testset.document_questions import find_questions

ONE = """
import resource, sys, time
from ragstone import generate
start = time.monotonic()
made = generate(sys.argv[1], 100)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{made.documents:,} documents ask {made.outcome.there:,} questions, {len(made)} made: {peak:.0f} MB,
{time.monotonic() - start:.0f} s")
"""


class Held(list[Document]):
    """Documents in memory, found by place and by id."""

    @cached_property
    def _known(self) -> dict[str, Document]:
        return {one.id: one for one in self}

    def find(self, key: str) -> Document:
        """The document with this id."""
        return self._known[key]


def xquad() -> Path:
    """Where the data handed over lies: beside the checkout, or where RAGSTONE_DATA says."""
    return Path(os.environ.get("RAGSTONE_DATA") or Path(__file__).parents[2] / "shared/data") / "qa"


def corpora() -> Iterator[tuple[str, Held]]:
    """The built-in corpus and, where it lies beside the checkout, xquad, by language."""
    rows = [json.loads(line) for line in built_in().read_text("utf-8").splitlines()]
    for language in ("en", "es"):
        mine = [row for row in rows if row["language"] == language]
        yield (
            f"counties {language}",
            Held(Document(r["id"], r["text"], r["title"], language) for r in mine),
        )
        path = xquad() / f"xquad_{language}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                found = [json.loads(line) for line in file]
            yield (
                f"xquad {language}",
                Held(Document(r["doc_id"], r["text"], "", language) for r in found),
            )


def show_folder(folder: str, language: str) -> None:
    """Every question with what stands below it."""
    kept = total = 0
    for document in read_documents(folder):
        for found in find_questions(document.text, language or document.language):
            total += 1
            kept += found.fault is None
            why = f"  [{found.fault}: {found.detail}]" if found.fault else ""
            print(
                f"{document.id} ({found.form}): {found.question}{why}\n    "
                f"{' / '.join(found.answer[:200].splitlines())}"
            )
    print(f"{kept} of {total} can be asked")


def measure_memory(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        with path.open("w") as file:
            for n in range(count):
                prose = f"The hut {n} stands above the lake of valley {n % 997}. " * 12
                text = (
                    f"# Hut {n}\n\n{prose}\n\n## How many beds has hut {n}?\n\nHut {n} has {n % 50 + 4} beds.\n\n## "
                    f"Who keeps hut {n} in winter?\n\nKeeper{n % 4000} does.\n"
                )
                file.write(json.dumps({"id": f"hut{n}", "title": f"Hut {n}", "text": text}) + "\n")
        subprocess.run([sys.executable, "-c", ONE, str(path)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--lang", default="")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--documents", type=int, default=100_000)
    given = parser.parse_args()
    if given.folder:
        show_folder(given.folder, given.lang)
    if given.memory:
        for count in (1_000, given.documents):
            measure_memory(count)


if __name__ == "__main__":
    main()
