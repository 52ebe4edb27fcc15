"""Row sources of rankings and judgements: TREC run and qrels files, and BEIR folders.

Several files of one evaluation are joined with `+`: `run.trec+qrels.txt`, `beir_folder+run.trec`,
`beir_folder+beir_folder/qrels/dev.tsv`. The lines show which part a file is: a run has six columns
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

from ragstone.data.sources import (
    RawRow,
    RejectedRow,
    ReopenableFile,
    RowSource,
    check_path,
    iter_lines,
    translate_errors,
)
from ragstone.data.strict_json import BadRow, parse_json
from ragstone.errors import DataError

TrecRun = dict[str, list[tuple[float, str]]]
"""Query → scores and ids of the retrieved documents."""


@dataclass(slots=True)
class TrecFiles:
    """Paths of the files of one evaluation; `opened` has the file of each path once all are known."""

    run: str | None = None
    qrels: str | None = None
    queries: str | None = None
    corpus: str | None = None
    opened: dict[str, ReopenableFile] = field(default_factory=dict)


def open_rankings(source: str) -> RowSource | None:
    """Open TREC or BEIR files as a row source; None if the source is something else."""
    with translate_errors(source):
        # a file whose own name contains a plus sign is one part
        is_single = "+" not in source or Path(source).exists()
    files = TrecFiles()
    for part in [source] if is_single else source.split("+"):
        if not part:
            raise DataError(f"{source!r} has an empty part; write run.trec+qrels.txt")
        problem = _add_part(part, files)
        if problem:
            if is_single:
                return None
            raise DataError(problem)
    if files.run is None and files.queries is None:
        raise DataError(f"{source!r} has judgements only; add the run: run.trec+{source}")
    if files.qrels is None:
        raise DataError(f"{source!r} is a run without judgements; add them: {source}+qrels.txt")
    for path in (files.run, files.qrels, files.queries, files.corpus):
        if path is not None:
            files.opened[path] = ReopenableFile(path)
    title = "a BEIR folder" if files.queries else "a TREC run with qrels"
    return RowSource(source, lambda: _read_rows(files), line_format=title, is_native=True)


def _add_part(part: str, files: TrecFiles) -> str:
    """Add a run, qrels or BEIR folder to the files; the result says why the part is none of them, or is empty."""
    path = check_path(part)
    if path.is_dir():
        _add_beir_folder(path, files)
        return ""
    if not path.is_file():
        return f"{part!r} is not a file; give a run, qrels or a BEIR folder"
    kind = _detect_kind(part)
    if kind is None:
        return (
            f"{part!r} is neither a TREC run (6 columns) nor qrels (4 columns); "
            "write run.trec+qrels.txt"
        )
    setattr(files, kind, part)  # the kinds are names of TrecFiles' fields
    return ""


def _add_beir_folder(path: Path, files: TrecFiles) -> None:
    """Add queries and qrels of a BEIR folder, and if they exist the corpus and a run."""
    queries = _find_file(path, "queries.jsonl", "queries.jsonl.gz")
    if queries is None:
        raise DataError(
            f"{str(path)!r} is a folder without queries.jsonl; give a file, or a BEIR folder"
        )
    files.queries = queries
    files.corpus = _find_file(path, "corpus.jsonl", "corpus.jsonl.gz")
    with translate_errors(str(path)):
        splits = sorted(path.glob("qrels/*.tsv"))
        runs = sorted([*path.glob("*.trec"), *path.glob("*.run"), *path.glob("run.txt")])
    if files.qrels is None:
        test = [split for split in splits if split.stem == "test"] or splits
        if len(test) == 1:
            files.qrels = str(test[0])
        else:
            names = ", ".join(str(split) for split in splits) or "none"
            raise DataError(
                f"{str(path)!r} has no qrels/test.tsv (there: {names}); "
                f"put the file in front: QRELS+{path}"
            )
    if files.run is None and len(runs) == 1:
        files.run = str(runs[0])


def _find_file(path: Path, *names: str) -> str | None:
    return next((str(path / name) for name in names if (path / name).is_file()), None)


_ROW_SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".pq")
"""Suffixes of files that hold rows, whatever their first line looks like."""


def _detect_kind(part: str) -> str | None:
    """Return "run" or "qrels" by the columns of the first lines; None for other files."""
    if part.lower().removesuffix(".gz").endswith(_ROW_SUFFIXES):
        return None
    head = ReopenableFile(part).head.removeprefix(b"\xef\xbb\xbf")
    if head.lstrip()[:1] in (b"{", b"["):
        return None
    for raw in head.splitlines()[:5]:
        words = raw.split()
        if _has_numbers(words, 6, (3, 4)):
            return "run"
        if _has_numbers(words, 4, (1, 3)) or raw.startswith(b"query-id\t"):
            return "qrels"
    return None


def _has_numbers(words: list[bytes], count: int, columns: tuple[int, ...]) -> bool:
    if len(words) != count:
        return False
    try:
        return all(math.isfinite(float(words[column])) for column in columns)
    except ValueError:
        return False


def _read_rows(files: TrecFiles) -> Iterator[RawRow]:
    """Yield a row of ragstone columns for each query: those of the run first, in its order."""
    assert files.qrels is not None  # `open_rankings` has checked it
    judged: dict[str, dict[str, float]] = {}
    yield from _read_qrels(files.opened[files.qrels], judged)
    run: TrecRun = {}
    if files.run is not None:
        yield from _read_run(files.opened[files.run], run)
    questions: dict[str, str] = {}
    if files.queries is not None:
        yield from _read_texts(files.opened[files.queries], questions, None)
    documents: dict[str, str] = {}
    if files.corpus is not None and run:
        # a corpus may be far larger than memory: only retrieved documents are kept
        retrieved = {name for ranking in run.values() for _, name in ranking}
        yield from _read_texts(files.opened[files.corpus], documents, retrieved)
    location = files.run or files.queries or files.qrels
    for query in dict.fromkeys([*run, *judged]):
        row: dict[str, Any] = {"id": query}
        if query in questions:
            row["question"] = questions[query]
        if files.run is not None:
            row["contexts"] = _build_contexts(run.get(query, []), documents)
        if query in judged:
            row["relevant"] = judged[query]
        yield f"{location}: query {query}", json.dumps(row, ensure_ascii=False)


def _build_contexts(
    ranking: list[tuple[float, str]], documents: dict[str, str]
) -> list[dict[str, Any]]:
    return [
        {"id": name, "text": documents[name], "score": score}
        if documents.get(name)
        else {"id": name, "score": score}
        # tuples sort by score, then by id, both descending: trec_eval's order, ties included
        for score, name in sorted(ranking, reverse=True)
    ]


def _read_qrels(file: ReopenableFile, judged: dict[str, dict[str, float]]) -> Iterator[RawRow]:
    """Read judgements into `judged` (query → document → grade); bad lines are yielded."""
    for number, line in iter_lines(file, file.source):
        if isinstance(line, RejectedRow):
            yield f"{file.source}:{number}", line
            continue
        # BEIR's ids may hold spaces; TREC separates by any white space
        words = line.split("\t") if line.count("\t") in (2, 3) else line.split()
        # a header in the first line only: a query may be called `qid`
        if number == 1 and words[0] in ("query-id", "query_id", "qid"):
            continue
        grade = _parse_finite(words[-1])
        if len(words) not in (3, 4) or grade is None:
            reason = f"{line[:60]!r} is not a judgement; write: query 0 document grade"
            yield f"{file.source}:{number}", RejectedRow(reason)
            continue
        query, name = words[0].strip(), words[-2].strip()
        grades = judged.setdefault(query, {})
        if name in grades:
            reason = f"{name!r} is judged twice for query {query!r}; keep one line"
            yield f"{file.source}:{number}", RejectedRow(reason)
            continue
        grades[name] = int(grade) if grade.is_integer() else grade


def _read_run(file: ReopenableFile, run: TrecRun) -> Iterator[RawRow]:
    """Read a run into `run` (query → scored documents); bad lines are yielded."""
    for number, line in iter_lines(file, file.source):
        if isinstance(line, RejectedRow):
            yield f"{file.source}:{number}", line
            continue
        words = line.split()
        score = _parse_finite(words[4]) if len(words) == 6 else None
        if score is None:
            reason = (
                f"{line[:60]!r} is not a line of a run; write: query Q0 document rank score tag"
            )
            yield f"{file.source}:{number}", RejectedRow(reason)
            continue
        run.setdefault(words[0], []).append((score, words[2]))


def _read_texts(
    file: ReopenableFile, texts: dict[str, str], needed: set[str] | None
) -> Iterator[RawRow]:
    """Read a BEIR file into `texts` (id → title and text), all ids or the needed ones; bad lines are yielded."""
    for number, line in iter_lines(file, file.source):
        try:
            if isinstance(line, RejectedRow):
                raise BadRow(line.reason)
            row = parse_json(line)
            name = row.get("_id") if isinstance(row, dict) else None
            text = row.get("text") if isinstance(row, dict) else None
            if not isinstance(name, str | int) or not isinstance(text, str):
                raise BadRow('no "_id" and "text" here; write {"_id": …, "text": …}')
        except BadRow as bad:
            yield f"{file.source}:{number}", RejectedRow(str(bad))
            continue
        if needed is None or str(name) in needed:
            title = row.get("title")
            texts[str(name)] = f"{title}\n{text}" if isinstance(title, str) and title else text


def _parse_finite(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
