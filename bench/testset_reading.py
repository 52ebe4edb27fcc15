"""Reading sheets: test-set items made without an LLM, for people to judge one by one.

    python -m bench.testset_reading FOLDER -o bench/testset_reading/en.csv --lang en -n 100 [--seed 1]

FOLDER holds one folder of documents for each source. A sheet has the columns kind, how, source, question, reference,
passage, verdict and note. The reader fills in the last two: good, clumsy (right but not what a colleague would write) or
wrong (not answerable, another answer, broken language, reference cut). `--count SHEET` adds the verdicts up."""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ragstone import generate
from ragstone.data import to_csv_line
from ragstone.data.documents import Document, stream_documents
from ragstone.testset.items import Item, get_abstention

COLUMNS = ("kind", "how", "source", "question", "reference", "passage", "verdict", "note")
PASSAGE_CHARS = 700


def read_sources(folder: Path, language: str) -> Iterator[Document]:
    """The documents of every source, each id with its source."""
    for source in sorted(path for path in folder.iterdir() if path.is_dir()):
        # as `ragstone generate` reads a folder: what is empty or cannot be read is left out
        for document in stream_documents(source, empty=print, unreadable=print):
            yield replace(document, id=f"{source.name}/{document.id}", language=language)


def build_row(item: Item) -> dict[str, str]:
    """An item as a line of the sheet."""
    passage = "\n".join(" ".join(one.quote.split())[:PASSAGE_CHARS] for one in item.evidence)
    if not item.answerable:
        closest = item.proof.get("closest", {})
        passage = f"(nothing answers it) made from: {item.proof.get('asked')}; closest: {closest}"
    before = "".join(f"[{turn}] " for turn in item.history)
    return {
        "kind": item.kind,
        "how": item.how,
        "source": next(iter(item.relevant), str(item.proof.get("from", ""))),
        "question": before + item.question,
        "reference": get_abstention(item.language) if item.reference is None else item.reference,
        "passage": passage,
        "verdict": "",
        "note": "",
    }


def write_sheet(folder: Path, out: Path, language: str, count: int, seed: int) -> None:
    """Make the items and write the sheet; say how many documents and kinds stand in it."""
    documents = list(read_sources(folder, language))
    made = generate(documents, count, seed=seed)
    print(made)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8", newline="") as file:
        file.write(to_csv_line(COLUMNS))
        for item in made.items:
            row = build_row(item)
            file.write(to_csv_line([row[name] for name in COLUMNS]))
    used = {key for item in made.items for key in item.relevant}
    print(f"{len(made.items)} items from {len(used)} of {len(documents)} documents in {out}")


def count_verdicts(sheet: Path) -> None:
    """Verdicts of a sheet, whole and by kind."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["verdict"]]
    print(f"{sheet}: {len(rows)} read, {dict(Counter(row['verdict'] for row in rows))}")
    for kind in sorted({row["kind"] for row in rows}):
        verdicts = Counter(row["verdict"] for row in rows if row["kind"] == kind)
        print(f"  {kind}: {dict(verdicts)}")


def main() -> None:
    """Write a sheet, or count one."""
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("folder", nargs="?", type=Path)
    asks.add_argument("-o", "--output", type=Path, default=Path("sheet.csv"))
    asks.add_argument("--lang", default="en")
    asks.add_argument("-n", type=int, default=100)
    asks.add_argument("--seed", type=int, default=1)
    asks.add_argument("--count", type=Path)
    given = asks.parse_args()
    if given.count:
        count_verdicts(given.count)
    else:
        write_sheet(given.folder, given.output, given.lang, given.n, given.seed)


if __name__ == "__main__":
    main()
