"""`testset check` on sets with planted faults: share found of each kind, and false alarms on healthy sets.

    python -m bench.testset_audit [--each 40] [--show KIND] [--oracle]
    python -m bench.testset_audit --base-url http://127.0.0.1:8080/v1 --fault "answerable marked unanswerable"
    --each 15

Healthy sets of several shapes come first: the hand-made questions of the bundled corpus and the questions of xquad
where
they lie beside the checkout. Then each fault is planted in copies of their items, --each of a kind; an item counts
as found
when a finding of the kinds that fit names it. Hints (an item that may have an answer) are counted apart, and are
no alarms;
bench/testset_answers.py measures them, and alarms on questions that nothing answers. With --base-url the small
model of that
server reads, as with `testset check --judge`; its replies are kept in --store. --oracle puts a perfect large
reader in its
place, which shows what any model can reach. Paraphrased duplicates are those of bench/asked_log, written by hand."""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.asked_log.__main__ import read_intents
from bench.testsets import corpora as read_corpora
from ragstone.asks import Ask, Reply
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.testset.checkup import check_testset
from ragstone.testset.doubt_reader import ReadingJudge
from ragstone.text.evidence import find_quote
from ragstone.text.language import ABSTENTIONS

Row = dict[str, Any]
MAX_ROWS = 240
HINT = "hint"
FRAMES = {
    "en": (
        "Please tell me: {}",
        "Hi, quick question: {}",
        "I would like to know: {}",
        "Could you tell me this? {}",
    ),
    "es": (
        "Por favor, dime: {}",
        "Hola, una pregunta: {}",
        "Me gustaría saber: {}",
        "¿Me puedes decir esto? {}",
    ),
}
NAMES = ("Zebulon", "Quimby", "Thornbury", "Valdemoro", "Ostrander", "Belarmino")


def plant_duplicate(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    return dict(row)


def plant_near_duplicate(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    return {**row, "question": rng.choice(FRAMES[row["language"]]).format(row["question"])}


def plant_conflict(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    other = rng.choice(rows)
    if not answerable(other) or other["reference"] == row["reference"]:
        return None
    return {**row, "reference": other["reference"]}


def plant_leak(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    word = "is it" if row["language"] == "en" else "es"
    return {
        **row,
        "question": f"{row['question'].rstrip('?')}, {word} {row['reference'].rstrip('.')}?",
    }


def plant_missing_document(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    return {**row, "relevant": {"no-such-document.md": 1}}


def plant_wrong_document(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    others = sorted(
        {key for other in rows for key in other.get("relevant") or {}} - set(row["relevant"])
    )
    return {**row, "relevant": {rng.choice(others): 1}} if others else None


def plant_wrong_value(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    """Another number, or another name where there is none."""
    reference = row["reference"]
    numbers = list(re.finditer(r"\d+", reference))
    if numbers:
        at = rng.choice(numbers)
        return {
            **row,
            "reference": f"{reference[: at.start()]}{int(at[0]) + rng.randrange(3, 40)}{reference[at.end() :]}",
        }
    names = [m for m in re.finditer(r"\b[A-Z][a-z]{3,}\b", reference) if m.start()]
    if not names:
        return None
    at = rng.choice(names)
    return {**row, "reference": reference[: at.start()] + rng.choice(NAMES) + reference[at.end() :]}


def plant_unanswerable(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    """An answer that no document gives, to a question about something that none names."""
    name = rng.choice(NAMES)
    asked, said = {
        "en": (
            f"Who repaired the clock of {name} in the winter of the great storm?",
            f"The watchmaker Quirin {name} with his apprentice.",
        ),
        "es": (
            f"¿Quién reparó el reloj de {name} en el invierno de la gran tormenta?",
            f"El relojero Quirin {name} con su aprendiz.",
        ),
    }[row["language"]]
    return {**row, "question": asked, "reference": said}


def plant_answerable(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    return {**row, "reference": ABSTENTIONS[row["language"] == "es"], "relevant": {}}


def plant_not_self_contained(row: Row, rows: Sequence[Row], rng: random.Random) -> Row | None:
    tails = {
        "en": ("according to the passage", "in this document", "as mentioned above"),
        "es": ("según el texto", "en este documento", "mencionado anteriormente"),
    }[row["language"]]
    pronouns = {
        "en": ("When was it built?", "How much does it cost?", "Who founded them?"),
        "es": ("¿Cuándo se construyó este?", "¿Cuánto cuesta esto?", "¿Quién fundó dicha empresa?"),
    }[row["language"]]
    tailed = f"{row['question'].rstrip('?')} {rng.choice(tails)}?"
    return {**row, "question": rng.choice((tailed, tailed, rng.choice(pronouns)))}


Planter = Callable[[Row, Sequence[Row], random.Random], Row | None]
PLANTED: dict[str, tuple[Planter, frozenset[str]]] = {
    "duplicate": (plant_duplicate, frozenset({"duplicate"})),
    "near-duplicate": (plant_near_duplicate, frozenset({"near_duplicate", "duplicate"})),
    "conflict between items": (plant_conflict, frozenset({"ambiguous"})),
    "leak": (plant_leak, frozenset({"leaked"})),
    "missing document": (plant_missing_document, frozenset({"unknown_document"})),
    "wrong document": (plant_wrong_document, frozenset({"wrong_document", "not_answerable"})),
    "wrong number or name": (plant_wrong_value, frozenset({"wrong_value", "wrong_document"})),
    "unanswerable marked answerable": (
        plant_unanswerable,
        frozenset({"not_answerable", "wrong_value"}),
    ),
    "answerable marked unanswerable": (plant_answerable, frozenset({"answerable"})),
    "not self-contained": (plant_not_self_contained, frozenset({"not_self_contained"})),
}
"""Fault → how it is planted, and the findings that fit it."""
ADDED = frozenset({"duplicate", "near-duplicate", "conflict between items"})
"""Faults that are another item beside the healthy one; the others take its place."""


def answerable(row: Row) -> bool:
    return row["reference"] not in ABSTENTIONS and bool(row.get("relevant"))


def check_rows(
    rows: Sequence[Row], documents: Any, reading: ReadingJudge | None = None
) -> dict[str, set[str]]:
    """Id → kinds of its findings, and HINT where it is only to be looked at."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        found: dict[str, set[str]] = {}
        checkup = check_testset(path, documents, reading=reading)
        for fault in checkup.faults:
            found.setdefault(fault.id, set()).add(fault.kind)
        for hint in checkup.hints:
            found.setdefault(hint.id, set()).add(HINT)
    return found


def healthy_sets() -> Iterator[tuple[str, list[Row], Any]]:
    """Name, rows and documents of each healthy set."""
    rows = [json.loads(line) for line in corpora.questions().read_text("utf-8").splitlines()]
    for code in ("en", "es"):
        mine = [row for row in rows if row.get("language") == code]
        yield f"hand-made {code}", mine[:MAX_ROWS], corpora.documents()
    for name, held in read_corpora():
        if name.startswith("xquad"):
            yield name, list(_xquad(name, held)), list(held)


def paraphrased_rows() -> tuple[list[Row], dict[str, list[Row]]]:
    """Hand-written questions with answers, and other people's wordings of each by how near they are, with the
    answer reworded."""
    rows: list[Row] = []
    planted: dict[str, list[Row]] = {"near": [], "far": []}
    for n, intent in enumerate(read_intents()):
        language = "es" if intent.topic in ("devoluciones", "envíos", "préstamos") else "en"
        long, other = {
            "en": (
                f"As rule {n} of the {intent.topic} desk has said since spring.",
                f"Rule {n} of the {intent.topic} desk says so, since spring.",
            ),
            "es": (
                f"Según la norma {n} de la ventanilla de {intent.topic} de esta primavera.",
                f"Lo dice la norma {n} de la ventanilla de {intent.topic}, de esta primavera.",
            ),
        }[language]
        # half of the answers are short ones that many questions have
        answer, again = (long, other) if n % 2 else ("Yes.", "Yes.")
        row = {
            "id": f"i{n}",
            "question": intent.wordings[0],
            "reference": answer,
            "relevant": {intent.topic: 1},
            "language": language,
        }
        rows.append(row)
        for kind, wordings in (("near", intent.near), ("far", intent.wordings[1:2])):
            planted[kind] += [
                {**row, "id": f"{kind}{n}", "question": text, "reference": again}
                for text in wordings
            ]
    return rows, planted


def measure_paraphrases() -> None:
    """Paraphrased duplicates found, by how near they are and how telling their answer is, and false alarms without
    them."""
    rows, planted = paraphrased_rows()
    alarms = check_rows(rows, None)
    print(
        f"paraphrases: {len(rows)} items, {sum(bool(kinds & TWINS) for kinds in alarms.values())} false alarms"
    )
    for kind, more in planted.items():
        found = check_rows([*rows, *more], None)
        for name, is_short in (("telling answers", False), ("short answers", True)):
            of = [row["id"] for row in more if (row["reference"] == "Yes.") == is_short]
            hits = sum(bool(found.get(key, set()) & TWINS) for key in of)
            print(f"  {kind} wordings, {name}: {hits} of {len(of)}")


TWINS = frozenset({"duplicate", "near_duplicate", "ambiguous"})


def _bundled(language: str) -> Iterator[Document]:
    for line in corpora.documents().read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["language"] == language:
            yield Document(row["id"], row["text"], row["title"], language)


def _xquad(name: str, held: Sequence[Document]) -> Iterator[Row]:
    import gzip

    from bench.testsets import xquad

    language = name[-2:]
    with gzip.open(xquad() / f"xquad_{language}.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in list(file)[: MAX_ROWS // 5]:
            row = json.loads(line)
            for n, asked in enumerate(row["questions"]):
                yield {
                    "id": f"{row['doc_id']}-{n}",
                    "question": asked["question"],
                    "language": language,
                    "reference": asked.get("answer") or asked["answers"][0],
                    "relevant": {row["doc_id"]: 1},
                }


def plant(rows: Sequence[Row], fault: str, each: int) -> tuple[list[Row], set[str]]:
    """The set with one fault planted so many times, and the ids of the faulty items."""
    rng = random.Random(fault)
    planter, _ = PLANTED[fault]
    chosen = [row for row in rows if answerable(row) and not (row.get("meta") or {}).get("history")]
    rng.shuffle(chosen)
    out, ids = {row["id"]: row for row in rows}, set()
    for row in chosen:
        bad = planter(row, rows, rng)
        if bad is None or len(ids) >= each:
            continue
        bad["id"] = f"bad-{row['id']}"
        bad["meta"] = {k: v for k, v in (row.get("meta") or {}).items() if k != "evidence"}
        if fault not in ADDED:
            del out[row["id"]]
        out[bad["id"]] = bad
        ids.add(bad["id"])
    return list(out.values()), ids


class Oracle:
    """A perfect large reader: it answers where a passage that it is shown holds the reference word for word, and
    quotes it."""

    name, batch, concurrency, local = "oracle", 1, 8, True

    def __init__(self, rows: Sequence[Row]) -> None:
        self.known = {row["question"]: row["reference"] for row in rows}

    def identity(self, ask: Ask) -> dict[str, str]:
        return {"judge": self.name}

    async def answer(self, asks: Sequence[Ask]) -> list[Reply]:
        return [
            Reply({"answers": [self.read(case) for case in ask.values["cases"]]}) for ask in asks
        ]

    def read(self, case: Row) -> Row:
        (question,) = case["questions"]
        reference = self.known[question["text"]]
        told = any(find_quote(reference, source["text"]) for source in case["sources"])
        quote = reference if told else ""
        return {"id": question["id"], "told": told, "answer": quote, "quote": quote}

    async def close(self) -> None:
        """It holds nothing."""


def build_reading(given: argparse.Namespace, rows: Sequence[Row]) -> ReadingJudge | None:
    """The small model of a server that runs, or the perfect reader, as a judge that reads."""
    if given.oracle:
        return ReadingJudge(Oracle(rows), given.store)
    if given.base_url is None:
        return None
    judge = {
        "model": "openai:small",
        "base_url": given.base_url,
        "identity": given.name,
        "small": True,
        "temperature": 0,
        "concurrency": 1,
        "timeout": 3600.0,
        "deadline": 3600.0,
    }
    return ReadingJudge(judge, given.store)


def measure(name: str, rows: list[Row], documents: Any, given: argparse.Namespace) -> Counter[str]:
    """Print what was found in one set; found and planted of each kind."""
    show, reading = given.show, build_reading(given, rows)
    told = check_rows(rows, documents, reading)
    kinds = Counter(kind for found in told.values() for kind in found)
    alarms = {key: found for key, found in told.items() if found != {HINT}}
    print(
        f"{name}: {len(rows)} items, {len(alarms)} false alarms ({len(alarms) / len(rows):.1%}) {dict(kinds)}"
    )
    if show == "alarms":
        for row in rows:
            if row["id"] in alarms:
                print("  ", alarms[row["id"]], row["question"], "→", row["reference"])
    counts: Counter[str] = Counter({"items": len(rows), "alarms": len(alarms)})
    for fault, (_, fitting) in PLANTED.items():
        if given.fault not in fault:
            continue
        planted, ids = plant(rows, fault, given.each)
        found = check_rows(planted, documents, reading)
        # of a pair either side may be named: the later one is
        hits = {key for key in ids if found.get(key, set()) & fitting}
        counts[f"{fault}: found"] += len(hits)
        hinted = sum(HINT in found.get(key, set()) for key in ids - hits)
        counts[f"{fault}: hinted"] += hinted
        counts[f"{fault}: planted"] += len(ids)
        print(f"  {fault}: {len(hits)} of {len(ids)}" + (f", hints {hinted}" if hinted else ""))
        if show == fault:
            for row in planted:
                if row["id"] in ids - hits:
                    print(
                        "    missed:",
                        row["question"],
                        "→",
                        row["reference"],
                        row.get("relevant"),
                        found.get(row["id"]),
                    )
    return counts


def main() -> None:
    asks = argparse.ArgumentParser(description=__doc__)
    asks.add_argument("--each", type=int, default=40)
    asks.add_argument("--show", default="")
    asks.add_argument("--only", default="")
    asks.add_argument("--fault", default="", help="only this one")
    asks.add_argument("--base-url", help="a server of a small model that reads")
    asks.add_argument("--name", default="small", help="of the model, in the store")
    asks.add_argument("--store", default="answers.db", help="replies of the model")
    asks.add_argument(
        "--oracle", action="store_true", help="a perfect large reader instead of a model"
    )
    given = asks.parse_args()
    if not given.only and not given.fault:
        measure_paraphrases()
    total: Counter[str] = Counter()
    for name, rows, documents in healthy_sets():
        if given.only in name:
            total += measure(name, rows, documents, given)
    print(
        f"all: {total['alarms']} false alarms in {total['items']} items ("
        f"{total['alarms'] / max(1, total['items']):.1%})"
    )
    for fault in PLANTED:
        found, planted = total[f"{fault}: found"], total[f"{fault}: planted"]
        if not planted:
            continue
        hinted = total[f"{fault}: hinted"]
        more = f"; with hints {(found + hinted) / planted:.0%}" if hinted else ""
        print(f"  {fault}: {found} of {planted} ({found / max(1, planted):.0%}){more}")


if __name__ == "__main__":
    main()
