"""Rankings and judgements kept as lines: TREC run and qrels files, and BEIR folders.

Several parts of one evaluation are joined with `+`: `run.trec+qrels.txt`, `beir_folder+run.trec`,
`beir_folder+beir_folder/qrels/dev.tsv`. What each part is shows in its lines: a run has six columns
(query Q0 document rank score tag), qrels four (query 0 document grade) or BEIR's three with a header.

A ranking is ordered as trec_eval does: by score, best first, equal scores by document id from z to a;
the rank column is not used. A judged query that the run lacks has retrieved nothing. A query of the
run without judgements has no `relevant`. Runs, qrels and the texts of retrieved documents are held in memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.data.containers import Container, Opened, Raw, Refused, checked_path, lines, problems
from ragstone.data.strict import BadRow, parse
from ragstone.errors import DataError


@dataclass(slots=True)
class Parts:
    """The files of one evaluation."""

    run: str | None = None
    qrels: str | None = None
    queries: str | None = None
    corpus: str | None = None
    opened: dict[str, Opened] = field(default_factory=dict)


def ranking(source: str) -> Container | None:
    """The container of TREC or BEIR parts; None if the source is something else."""
    whole = Path(source)
    with problems(source):
        parts = [source] if "+" not in source or whole.exists() else source.split("+")
    found = Parts()
    for part in parts:
        if not part:
            raise DataError(f"{source!r} has an empty part; write run.trec+qrels.txt")
        path = checked_path(part)
        if path.is_dir():
            _folder(path, found)
            continue
        if not path.is_file():
            if len(parts) == 1:
                return None
            raise DataError(f"{part!r} is not a file; give a run, qrels or a BEIR folder")
        kind = _kind(part)
        if kind is None:
            if len(parts) == 1:
                return None
            raise DataError(
                f"{part!r} is neither a TREC run (6 columns) nor qrels (4 columns); "
                "write run.trec+qrels.txt"
            )
        setattr(found, kind, part)
    if found.run is None and found.queries is None:
        raise DataError(f"{source!r} has judgements only; add the run: run.trec+{source}")
    if found.qrels is None:
        raise DataError(f"{source!r} is a run without judgements; add them: {source}+qrels.txt")
    for used in (found.run, found.qrels, found.queries, found.corpus):
        if used is not None:
            found.opened[used] = Opened(used)
    title = "a BEIR folder" if found.queries else "a TREC run with qrels"
    return Container(source, lambda: _rows(found), lines=title, own=True)


def _folder(path: Path, found: Parts) -> None:
    """A BEIR folder: queries and qrels, and if they are there the corpus and a run."""
    queries = _one_of(path, "queries.jsonl", "queries.jsonl.gz")
    if queries is None:
        raise DataError(
            f"{str(path)!r} is a folder without queries.jsonl; give a file, or a BEIR folder"
        )
    found.queries = queries
    found.corpus = _one_of(path, "corpus.jsonl", "corpus.jsonl.gz")
    with problems(str(path)):
        splits = sorted(path.glob("qrels/*.tsv"))
        runs = sorted([*path.glob("*.trec"), *path.glob("*.run"), *path.glob("run.txt")])
    if found.qrels is None:
        test = [split for split in splits if split.stem == "test"] or splits
        if len(test) == 1:
            found.qrels = str(test[0])
        else:
            names = ", ".join(str(split) for split in splits) or "none"
            raise DataError(
                f"{str(path)!r} has no qrels/test.tsv (there: {names}); "
                f"put the file in front: QRELS+{path}"
            )
    if found.run is None and len(runs) == 1:
        found.run = str(runs[0])


def _one_of(path: Path, *names: str) -> str | None:
    return next((str(path / name) for name in names if (path / name).is_file()), None)


_ROWS = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq")
"""Endings of files that hold rows."""


def _kind(part: str) -> str | None:
    """Which part a file is, by the columns of its first lines."""
    if part.lower().removesuffix(".gz").endswith(_ROWS):
        return None
    head = Opened(part).head.removeprefix(b"\xef\xbb\xbf")
    if head.lstrip()[:1] in (b"{", b"["):
        return None
    for raw in head.splitlines()[:5]:
        words = raw.split()
        if _numbers(words, 6, (3, 4)):
            return "run"
        if _numbers(words, 4, (1, 3)) or raw.startswith(b"query-id\t"):
            return "qrels"
    return None


def _numbers(words: list[bytes], count: int, at: tuple[int, ...]) -> bool:
    if len(words) != count:
        return False
    try:
        return all(math.isfinite(float(words[place])) for place in at)
    except ValueError:
        return False


def _rows(parts: Parts) -> Iterator[Raw]:
    """One row of our own columns for each query: those of the run first, in its order."""
    assert parts.qrels is not None
    judged: dict[str, dict[str, float]] = {}
    yield from _qrels(parts.qrels, parts.opened[parts.qrels], judged)
    run: dict[str, list[tuple[float, str]]] = {}
    if parts.run is not None:
        yield from _run(parts.run, parts.opened[parts.run], run)
    questions: dict[str, str] = {}
    if parts.queries is not None:
        yield from _texts(parts.queries, parts.opened[parts.queries], questions, None)
    documents: dict[str, str] = {}
    if parts.corpus is not None and run:
        wanted = {name for ranked in run.values() for _, name in ranked}
        yield from _texts(parts.corpus, parts.opened[parts.corpus], documents, wanted)
    place = parts.run or parts.queries or parts.qrels
    for query in dict.fromkeys([*run, *judged]):
        row: dict[str, Any] = {"id": query}
        if query in questions:
            row["question"] = questions[query]
        if parts.run is not None:
            ranked = sorted(run.get(query, []), reverse=True)
            row["contexts"] = [
                {"id": name, "text": documents[name], "score": score}
                if documents.get(name)
                else {"id": name, "score": score}
                for score, name in ranked
            ]
        if query in judged:
            row["relevant"] = judged[query]
        yield f"{place}: query {query}", json.dumps(row, ensure_ascii=False)


def _qrels(shown: str, opened: Opened, judged: dict[str, dict[str, float]]) -> Iterator[Raw]:
    for number, line in lines(opened, shown):
        if isinstance(line, Refused):
            yield f"{shown}:{number}", line
            continue
        words = line.split("\t") if line.count("\t") in (2, 3) else line.split()
        if number == 1 and words[0] in ("query-id", "query_id", "qid"):
            continue
        grade = _finite(words[-1])
        if len(words) not in (3, 4) or grade is None:
            why = f"{line[:60]!r} is not a judgement; write: query 0 document grade"
            yield f"{shown}:{number}", Refused(why)
            continue
        query, name = words[0].strip(), words[-2].strip()
        before = judged.setdefault(query, {})
        if name in before:
            why = f"{name!r} is judged twice for query {query!r}; keep one line"
            yield f"{shown}:{number}", Refused(why)
            continue
        before[name] = int(grade) if grade.is_integer() else grade


def _run(shown: str, opened: Opened, run: dict[str, list[tuple[float, str]]]) -> Iterator[Raw]:
    for number, line in lines(opened, shown):
        if isinstance(line, Refused):
            yield f"{shown}:{number}", line
            continue
        words = line.split()
        score = _finite(words[4]) if len(words) == 6 else None
        if score is None:
            why = f"{line[:60]!r} is not a line of a run; write: query Q0 document rank score tag"
            yield f"{shown}:{number}", Refused(why)
            continue
        run.setdefault(words[0], []).append((score, words[2]))


def _texts(
    shown: str, opened: Opened, texts: dict[str, str], wanted: set[str] | None
) -> Iterator[Raw]:
    """Id → text of a BEIR file, the title in front; only the wanted ids, if given."""
    for number, line in lines(opened, shown):
        try:
            if isinstance(line, Refused):
                raise BadRow(line.why)
            row = parse(line)
            name = row.get("_id") if isinstance(row, dict) else None
            text = row.get("text") if isinstance(row, dict) else None
            if not isinstance(name, str | int) or not isinstance(text, str):
                raise BadRow('no "_id" and "text" here; write {"_id": …, "text": …}')
        except BadRow as bad:
            yield f"{shown}:{number}", Refused(str(bad))
            continue
        if wanted is None or str(name) in wanted:
            title = row.get("title")
            texts[str(name)] = f"{title}\n{text}" if isinstance(title, str) and title else text


def _finite(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
