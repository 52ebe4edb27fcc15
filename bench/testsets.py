"""Test sets without an LLM: items a second, items a document, and the round trip with the embedded judge.

    python -m bench.testsets [--memory] [--show 100] [--sample 400]

On the built-in corpus and, where it lies beside the checkout, on xquad (a corpus nobody here wrote), in English and Spanish:
every document is asked for every kind, every item is proved. CPU seconds count the index, the making and all proofs.
Then each answerable item (a sample of them) is answered by the reference pipeline's own extractive answerer, once from its
evidence and once from its whole document, and the embedded judge says whether the answer holds the reference (`completeness`).
--memory compares the peak with 10^3 and with 10^5 documents; --show prints that many items of each corpus to be read."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ragstone.data.corpora import documents as built_in
from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.items import KINDS, UNANSWERABLE, Item, Rejection
from ragstone.testset.likeness import SAME_QUESTION_SHARE, find_alike
from ragstone.testset.offline import OfflineMaker
from ragstone.testset.proofs import Prover
from ragstone.testset.quotas import RULE_KINDS

WANTED = {kind: 1 for kind in KINDS if kind in RULE_KINDS} | {
    "factual": 5,
    "conceptual": 3,
    "how_to": 3,
    "detail": 5,
}
"""What each document is asked for."""
TRIES = 6
LONG = 150
"""Words from which a document must give five items."""


class Held(list[Document]):
    """Documents in memory, found by place and by id."""

    @cached_property
    def _known(self) -> dict[str, Document]:
        return {one.id: one for one in self}

    def find(self, key: str) -> Document:
        """The document with this id."""
        return self._known[key]


@dataclass
class Yield:
    """What a corpus gave."""

    items: list[Item] = field(default_factory=list)
    rejected: list[Rejection] = field(default_factory=list)
    seconds: float = 0.0
    each: Counter[str] = field(default_factory=Counter)


def xquad() -> Path:
    """Where the data handed over lies: beside the checkout, or where RAGSTONE_DATA says."""
    return Path(os.environ.get("RAGSTONE_DATA") or Path(__file__).parents[2] / "shared/data") / "qa"


def corpora() -> Iterator[tuple[str, Held]]:
    """The corpora by name and language."""
    rows = [json.loads(line) for line in built_in().read_text("utf-8").splitlines()]
    for language in ("en", "es"):
        yield (
            f"counties {language}",
            Held(
                Document(row["id"], row["text"], row["title"], language)
                for row in rows
                if row["language"] == language
            ),
        )
    for language in ("en", "es"):
        path = xquad() / f"xquad_{language}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                found = [json.loads(line) for line in file]
            yield (
                f"xquad {language}",
                Held(Document(row["doc_id"], row["text"], "", language) for row in found),
            )


def made(documents: Held, wanted: dict[str, int] = WANTED) -> Yield:
    """Every document asked for every kind, every candidate proved."""
    start = time.process_time()
    out = Yield()
    with CorpusIndex(documents) as index:
        maker, prover = OfflineMaker(index), Prover(index)
        for document in documents:
            dice = random.Random(document.id)
            seen: set[str] = set()
            for kind, most in wanted.items():
                _take(
                    maker.make_candidates(document, {kind: most}, dice),
                    most,
                    document.id,
                    prover,
                    seen,
                    out,
                )
    out.seconds = time.process_time() - start
    return out


def _take(
    candidates: Iterator[Item], most: int, key: str, prover: Prover, seen: set[str], out: Yield
) -> None:
    """Candidates proved until there are enough or too many were refused, as `ragstone generate` does it."""
    kept = missed = 0
    for item in candidates:
        if item.id in seen:
            continue
        seen.add(item.id)
        checked = prover.check_item(item)
        if isinstance(checked, Rejection):
            out.rejected.append(checked)
            missed += 1
        else:
            out.items.append(checked)
            out.each[key] += 1
            kept += 1
        if kept >= most or missed >= TRIES:
            return


def round_trip(items: Sequence[Item], documents: Held) -> tuple[float, float]:
    """Share of items that the extractive answerer gets right by the embedded judge: from the evidence, from the document."""
    from ragstone.experiments.run import evaluate
    from ragstone.systems.pipeline.chunking import chunk_documents
    from ragstone.systems.pipeline.extraction import Passage, extract_answer
    from ragstone.systems.pipeline.retrieval import Index

    asked = [item for item in items if item.kind not in UNANSWERABLE]
    if not asked:
        return 0.0, 0.0
    index = Index(chunk_documents(documents, size=120, overlap=0, by="sentence", titles=True))
    shares = []
    for whole in (False, True):
        rows = []
        for item in asked:
            told = [
                Passage(
                    documents.find(one.document).text if whole else one.quote,
                    documents.find(one.document).title,
                )
                for one in item.evidence
            ]
            question = str(item.proof.get("plain", item.question))
            answer = extract_answer(
                question,
                told,
                index,
                language=item.language,
                max_sentences=len(told),
                min_score=-1.0,
            )
            rows.append(
                {
                    "id": f"{item.id}-{whole}",
                    "question": item.question,
                    "answer": answer,
                    "reference": item.reference,
                    "language": item.language,
                }
            )
        with tempfile.TemporaryDirectory() as folder:
            run = evaluate(rows, ["completeness"], judge="offline", store=Path(folder) / "runs.db")
            values = [row["completeness"].value or 0.0 for row in run.scores().values()]
        shares.append(sum(value >= 0.99 for value in values) / len(values))
    return shares[0], shares[1]


def peak(count: int) -> float:
    """Peak memory in MB of a process that makes items from some of `count` documents."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.testsets", "--one", str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def one_peak(count: int) -> None:
    """What a child process does: index `count` documents on disk, make items from a hundred of them."""
    from bench.testset_llm import write_documents
    from ragstone.testset.sources import open_corpus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.jsonl"
        write_documents(path, count)
        with open_corpus(path) as held, CorpusIndex(held) as index:
            maker, prover = OfflineMaker(index), Prover(index)
            for place in range(0, count, max(1, count // 100)):
                for item in maker.make_candidates(
                    held[place], {"factual": 2, "near_miss": 1}, random.Random(place)
                ):
                    prover.check_item(item)
    # not ru_maxrss: a child starts with the peak of the process that started it
    status = Path("/proc/self/status").read_text("ascii")
    print(int(status.split("VmHWM:")[1].split()[0]) / 1024)


def report(name: str, documents: Held, sample: int, show: int) -> None:
    """One line a corpus."""
    out = made(documents)
    long = [one.id for one in documents if len(one.text.split()) >= LONG]
    each = sorted(out.each[key] for key in long)
    dice = random.Random(1)
    chosen = dice.sample(out.items, min(sample, len(out.items)))
    near, whole = round_trip(chosen, documents)
    twins = sum(
        1
        for _ in find_alike(
            [item.question for item in out.items if item.kind != "follow_up"], SAME_QUESTION_SHARE
        )
    )
    print(
        f"{name}: {len(out.items)} items and {len(out.rejected)} refused, {len(out.items) / out.seconds:.0f} a CPU second; "
        f"{len(long)} documents of {LONG} words or more give {each[0] if each else 0} at least, {sum(each) / max(1, len(each)):.1f} in the mean, "
        f"{sum(n >= 5 for n in each)} of them 5 or more; round trip {near:.1%} from the evidence, {whole:.1%} from the document; "
        f"{twins} pairs above {SAME_QUESTION_SHARE}"
    )
    print("   ", dict(Counter(item.kind for item in out.items).most_common()))
    print("   ", dict(Counter(one.reason for one in out.rejected).most_common()))
    for item in dice.sample(out.items, min(show, len(out.items))):
        before = " | ".join(item.history) + " || " if item.history else ""
        print(f"  [{item.kind}, {item.how}] {before}{item.question} → {item.reference}")


def main() -> None:
    """Print what was asked for."""
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("--memory", action="store_true")
    asks.add_argument("--show", type=int, default=0)
    asks.add_argument("--sample", type=int, default=400)
    asks.add_argument("--only", default="")
    asks.add_argument("--one", type=int, default=0, help=argparse.SUPPRESS)
    given = asks.parse_args()
    if given.one:
        one_peak(given.one)
        return
    for name, documents in corpora():
        if given.only in name:
            report(name, documents, given.sample, given.show)
    if given.memory:
        small, large = peak(1_000), peak(100_000)
        print(f"peak memory: {small:.0f} MB with 10^3 documents, {large:.0f} MB with 10^5")


if __name__ == "__main__":
    main()
