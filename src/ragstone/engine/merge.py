"""The questions that a sample's metrics put in one round, as few as will do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragstone.asks import Ask, Case, support, useful
from ragstone.types import EMPTY, Chunk

ExtractPart = Callable[[Any], Any]
"""Takes the value of one question's reply out of the value of a merged reply."""


class MergedAsk(NamedTuple):
    """One question that stands for several, and how each of them takes its own reply out of the answer."""

    ask: Ask
    parts: tuple[tuple[int, ExtractPart], ...]
    """Index of an original Ask, and the function from the merged reply's value to the value it would have got."""


def merge_asks(asks: Sequence[Ask]) -> list[MergedAsk]:
    """The fewest questions that answer all of a sample's questions of one round.

    Identical questions are put once. Texts to split into claims go together. Claims against the same sources go
    together; where there is but one source (an answer against its reference, and the reverse), all such
    cases go together too. Targets of the same chunks in the same wording go together. Everything else, and a
    `support` of several cases, stays as it is. The result does not depend on the order of the questions.

    A row of the reply with an id that nobody gave is passed to every part, so that its reader refuses it."""
    groups: dict[Hashable, list[tuple[Ask, list[int]]]] = {}
    for index, one in enumerate(asks):
        group = groups.setdefault(_mergeable(one), [])
        for known, places in group:
            if known is one or known == one:
                places.append(index)
                break
        else:
            group.append((one, [index]))
    merged: list[MergedAsk] = []
    for members in groups.values():
        indices = {id(one): places for one, places in members}
        for united, takes in _united([one for one, _ in members]):
            parts = [(index, take) for one, take in takes for index in indices[id(one)]]
            if len(parts) > 1:
                parts.sort(key=_index)
            merged.append(MergedAsk(united, tuple(parts)))
    return sorted(merged, key=_kind_and_key)


def _index(part: tuple[int, ExtractPart]) -> int:
    return part[0]


def _kind_and_key(one: MergedAsk) -> tuple[str, str]:
    return one.ask.kind, one.ask.key


def _mergeable(one: Ask) -> Hashable:
    """What two questions must share to be put as one; of a kind that is never united, only equal ones are."""
    values = one.values
    shared: tuple[Hashable, ...]
    if one.kind == "claims":
        shared = ()
    elif one.kind == "support" and len(values["cases"]) == 1:
        sources = _texts(values["cases"][0]["sources"])
        shared = sources if len(sources) != 1 else ()
    elif one.kind == "useful":
        shared = (values["question"], values["wording"], *_texts(values["chunks"]))
    else:
        return one.key
    return (one.kind, one.language, one.repeat, shared)


def _texts(items: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple([item["text"] for item in items])


def _united(members: Sequence[Ask]) -> Iterable[tuple[Ask, list[tuple[Ask, ExtractPart]]]]:
    if len(members) == 1:
        return [(members[0], [(members[0], _all_of_it)])]
    if members[0].kind == "claims":
        return [_one_splitting(members)]
    if members[0].kind == "support":
        return [_one_checking(members)]
    return _gradings(members)


def _all_of_it(value: Any) -> Any:
    return value


def _one_splitting(members: Sequence[Ask]) -> tuple[Ask, list[tuple[Ask, ExtractPart]]]:
    """`claims` over the distinct texts of several."""
    items = {item["text"]: item for one in members for item in one.values["texts"]}
    ids = {text: f"t{n}" for n, text in enumerate(sorted(items), 1)}
    texts = [{**items[text], "id": ids[text]} for text in sorted(items)]
    takes = []
    for one in members:
        own: dict[str, list[str]] = {name: [] for name in ids.values()}
        for item in one.values["texts"]:
            own[ids[item["text"]]].append(item["id"])
        takes.append((one, _rows("claims", "text_id", own)))
    return replace(members[0], values={"texts": texts}), takes


def _one_checking(members: Sequence[Ask]) -> tuple[Ask, list[tuple[Ask, ExtractPart]]]:
    """`support` of all claims of several, one case for each set of sources."""
    statements: dict[tuple[str, ...], dict[str, None]] = {}
    for one in sorted(members, key=lambda one: _texts(one.values["cases"][0]["claims"])):
        (case,) = one.values["cases"]
        here = statements.setdefault(_texts(case["sources"]), {})
        here.update(dict.fromkeys(_texts(case["claims"])))
    order = sorted(statements)
    united = support(
        *(Case(tuple(statements[key]), tuple(Chunk(text=text) for text in key)) for key in order)
    )
    homes = dict(zip(order, united.values["cases"], strict=True))
    every_claim = [claim["id"] for case in homes.values() for claim in case["claims"]]
    every_source = [source["id"] for case in homes.values() for source in case["sources"]]
    takes = []
    for one in members:
        (case,) = one.values["cases"]
        home = homes[_texts(case["sources"])]
        ids = {claim["text"]: claim["id"] for claim in home["claims"]}
        own: dict[str, list[str]] = {name: [] for name in every_claim}
        for claim in case["claims"]:
            own[ids[claim["text"]]].append(claim["id"])
        # another case's source must not pass for one of ours that has the same number
        names = {name: f"{name} of another case" for name in every_source}
        for mine, there in zip(case["sources"], home["sources"], strict=True):
            names[there["id"]] = mine["id"]
        takes.append((one, _rows("verdicts", "id", own, names)))
    first = members[0]
    return replace(united, language=first.language, repeat=first.repeat), takes


def _gradings(members: Sequence[Ask]) -> list[tuple[Ask, list[tuple[Ask, ExtractPart]]]]:
    """`useful` for all targets of several; a target's name stands for one text, so clashes stay apart."""
    groups: list[tuple[dict[str, str | None], list[Ask]]] = []
    for one in sorted(members, key=lambda one: one.key):
        own = one.values["targets"]
        for targets, inside in groups:
            if all(targets.get(name, text) == text for name, text in own.items()):
                targets.update(own)
                inside.append(one)
                break
        else:
            groups.append((dict(own), [one]))
    result = []
    for targets, inside in groups:
        first, names = inside[0], sorted(targets)
        united = useful(first.values["question"], (), {name: targets[name] for name in names})
        values = {**first.values, "targets": united.values["targets"]}
        united = replace(first, values=values, schema=united.schema)
        takes = [
            (one, _rows("grades", "target", {n: [n] * (n in one.values["targets"]) for n in names}))
            for one in inside
        ]
        result.append((united, takes))
    return result


def _rows(
    field: str, key: str, own: Mapping[str, Sequence[str]], sources: Mapping[str, str] = EMPTY
) -> ExtractPart:
    """Keeps the rows that are one's own, under one's own ids; other parts' are dropped, unknown ones kept."""

    def renamed(piece: Any) -> Any:
        known = piece.__class__ is dict or isinstance(piece, Mapping)
        name = piece.get("source") if known else None
        if isinstance(name, str) and name in sources:
            return {**piece, "source": sources[name]}
        return piece

    def take(value: Any) -> Any:
        rows = value.get(field) if isinstance(value, Mapping) else None
        if not isinstance(rows, list):
            return value
        kept: list[Any] = []
        for row in rows:
            name = row.get(key) if row.__class__ is dict or isinstance(row, Mapping) else None
            if not isinstance(name, str) or name not in own:
                kept.append(row)
                continue
            evidence = row.get("evidence")
            if sources and isinstance(evidence, list):
                row = {**row, "evidence": [renamed(piece) for piece in evidence]}
            kept += [{**row, key: mine} for mine in own[name]]
        return {**value, field: kept}

    return take
