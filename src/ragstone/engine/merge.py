"""Merges the Asks of a sample's metrics into as few as possible."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ragstone.asks import Ask, Case, support, useful
from ragstone.types import EMPTY, Chunk

ExtractPart = Callable[[Any], Any]
"""Extracts the value of one Ask's reply from the value of a merged reply."""

Members = list[tuple[Ask, ExtractPart]]
"""The Asks that a merged one stands for, each with the way to its part of the reply."""


class MergedAsk(NamedTuple):
    """One Ask that stands for several, and how each of them gets its part of the answer."""

    ask: Ask
    parts: tuple[tuple[int, ExtractPart], ...]
    """Index of an original Ask, and the function from the merged reply's value to the value it would have got."""


def merge_asks(asks: Sequence[Ask]) -> list[MergedAsk]:
    """Return the fewest Asks that answer all Asks of a sample's round.

    Identical Asks are put once. Texts to split into claims go together. Claims against the same sources go
    together; where there is but one source (an answer against its reference, and the reverse), all such
    cases go together too. Targets of the same chunks in the same wording go together. Everything else, and a
    `support` of several cases, stays as it is. The result does not depend on the order of the Asks.

    A row of the reply with an id that nobody gave is passed to every part, so that its reader rejects it."""
    groups: dict[Hashable, list[tuple[Ask, list[int]]]] = {}
    for index, ask in enumerate(asks):
        group = groups.setdefault(_group_key(ask), [])
        for known, indices in group:
            if known is ask or known == ask:  # identity first: comparing long texts is slow
                indices.append(index)
                break
        else:
            group.append((ask, [index]))
    merged: list[MergedAsk] = []
    for group in groups.values():
        # by id(): an Ask holds dicts and is not hashable
        indices_of = {id(ask): indices for ask, indices in group}
        for united, members in _unite_group([ask for ask, _ in group]):
            parts = [(index, extract) for ask, extract in members for index in indices_of[id(ask)]]
            if len(parts) > 1:
                parts.sort(key=_index_of)
            merged.append(MergedAsk(united, tuple(parts)))
    # sorted, so that the same Asks in another order (metrics listed differently) reach the judge
    # alike
    return sorted(merged, key=_kind_and_key)


def _index_of(part: tuple[int, ExtractPart]) -> int:
    return part[0]


def _kind_and_key(merged: MergedAsk) -> tuple[str, str]:
    return merged.ask.kind, merged.ask.key


def _group_key(ask: Ask) -> Hashable:
    """Return what two Asks must share to be merged; for a kind that is never united, the Ask itself."""
    values = ask.values
    shared: tuple[Hashable, ...]
    if ask.kind == "claims":
        shared = ()
    elif ask.kind == "support" and len(values["cases"]) == 1:
        sources = _list_texts(values["cases"][0]["sources"])
        # long sources are sent once, for all claims about them; cases of a single source each (an
        # answer and its reference) are short, so all of them share one Ask
        shared = sources if len(sources) != 1 else ()
    elif ask.kind == "useful":
        shared = (values["question"], values["wording"], *_list_texts(values["chunks"]))
    else:
        return ask.key
    return (ask.kind, ask.language, ask.repeat, shared)


def _list_texts(items: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple([item["text"] for item in items])


def _unite_group(asks: Sequence[Ask]) -> Iterable[tuple[Ask, Members]]:
    if len(asks) == 1:
        return [(asks[0], [(asks[0], _extract_all)])]
    if asks[0].kind == "claims":
        return [_unite_claims(asks)]
    if asks[0].kind == "support":
        return [_unite_support(asks)]
    return _unite_useful(asks)


def _extract_all(value: Any) -> Any:
    return value


def _unite_claims(asks: Sequence[Ask]) -> tuple[Ask, Members]:
    """Build one `claims` Ask over the distinct texts of several."""
    items = {_claim_key(item): item for ask in asks for item in ask.values["texts"]}
    # ids follow the sorted texts, not the order of metrics: the merged Ask's key must not depend on
    # that order
    ids = {key: f"t{n}" for n, key in enumerate(sorted(items), 1)}
    texts = [{**items[key], "id": ids[key]} for key in sorted(items)]
    members = []
    for ask in asks:
        # every merged id is a key, with an empty list where the Ask does not have that text: see
        # `_extract_rows`
        ids_of_ask: dict[str, list[str]] = {merged_id: [] for merged_id in ids.values()}
        for item in ask.values["texts"]:
            ids_of_ask[ids[_claim_key(item)]].append(item["id"])
        members.append((ask, _extract_rows("claims", "text_id", ids_of_ask)))
    return replace(asks[0], values={"texts": texts}), members


def _claim_key(item: Mapping[str, Any]) -> tuple[str, str]:
    """What makes two texts to split the same: their words, and the question that a bare answer is read with."""
    return item["text"], item.get("question", "")


CaseKey = tuple[str, tuple[str, ...]]
"""The question of a case, empty when it has none, and the texts of its sources."""


def _case_key(case: Mapping[str, Any]) -> CaseKey:
    return case.get("question", ""), _list_texts(case["sources"])


def _collect_claims(asks: Sequence[Ask]) -> dict[CaseKey, dict[str, str]]:
    """The claims of each case, with the answer that a claim was made of; empty when it is not known."""
    claims_of: dict[CaseKey, dict[str, str]] = {}
    for ask in sorted(asks, key=lambda ask: _list_texts(ask.values["cases"][0]["claims"])):
        (case,) = ask.values["cases"]
        claims = claims_of.setdefault(_case_key(case), {})
        for claim in case["claims"]:
            claims[claim["text"]] = claim.get("answer") or claims.get(claim["text"], "")
    return claims_of


def _unite_support(asks: Sequence[Ask]) -> tuple[Ask, Members]:
    """Build one `support` Ask of all claims of several, with one case for each set of sources."""
    claims_of = _collect_claims(asks)
    order = sorted(claims_of)
    united = support(
        *(
            Case(
                tuple(claims_of[key]),
                tuple(Chunk(text=text) for text in key[1]),
                tuple(claims_of[key].values()),
                key[0] or None,
            )
            for key in order
        )
    )
    merged_cases = dict(zip(order, united.values["cases"], strict=True))
    every_claim = [claim["id"] for case in merged_cases.values() for claim in case["claims"]]
    every_source = [source["id"] for case in merged_cases.values() for source in case["sources"]]
    members = []
    for ask in asks:
        (case,) = ask.values["cases"]
        merged_case = merged_cases[_case_key(case)]
        ids = {claim["text"]: claim["id"] for claim in merged_case["claims"]}
        ids_of_ask: dict[str, list[str]] = {merged_id: [] for merged_id in every_claim}
        for claim in case["claims"]:
            ids_of_ask[ids[claim["text"]]].append(claim["id"])
        # another case's source must not pass for a source of this Ask that has the same number
        names = {source_id: f"{source_id} of another case" for source_id in every_source}
        for source, merged_source in zip(case["sources"], merged_case["sources"], strict=True):
            names[merged_source["id"]] = source["id"]
        extract = _extract_rows("verdicts", "id", ids_of_ask, names)
        # the chance that all claims are supported is this Ask's only when no other Ask added claims to
        # the merged case
        is_whole = len(merged_case["claims"]) == len(set(_list_texts(case["claims"])))
        number = order.index(_case_key(case))
        members.append((ask, _extract_case(extract, number if is_whole else None)))
    return replace(united, language=asks[0].language, repeat=asks[0].repeat), members


def _unite_useful(asks: Sequence[Ask]) -> list[tuple[Ask, Members]]:
    """Build `useful` Asks for all targets of several; a target's name stands for one text, so clashes stay apart."""
    groups: list[tuple[dict[str, str | None], list[Ask]]] = []
    for ask in sorted(asks, key=lambda ask: ask.key):
        targets_of_ask = ask.values["targets"]
        for targets, group in groups:
            if all(targets.get(name, text) == text for name, text in targets_of_ask.items()):
                targets.update(targets_of_ask)
                group.append(ask)
                break
        else:
            groups.append((dict(targets_of_ask), [ask]))
    result = []
    for targets, group in groups:
        first, names = group[0], sorted(targets)
        # built without chunks: only its targets and schema are used
        united = useful(first.values["question"], (), {name: targets[name] for name in names})
        values = {**first.values, "targets": united.values["targets"]}
        united = replace(first, values=values, schema=united.schema)
        members = []
        for ask in group:
            # an empty list for a target that the Ask does not have
            ids_of_ask = {name: [name] * (name in ask.values["targets"]) for name in names}
            members.append((ask, _extract_rows("grades", "target", ids_of_ask)))
        result.append((united, members))
    return result


def _extract_case(extract: ExtractPart, number: int | None) -> ExtractPart:
    """Return a function that also keeps the chance of the Ask's case, the one at `number`; none when `number` is None."""

    def extract_case(value: Any) -> Any:
        part = extract(value)
        chances = part.get("case_probabilities") if isinstance(part, Mapping) else None
        if chances is None:
            return part
        if number is None or not isinstance(chances, list):
            return {**part, "case_probabilities": []}
        return {**part, "case_probabilities": chances[number : number + 1]}

    return extract_case


def _extract_rows(
    field: str,
    key: str,
    ids_of_ask: Mapping[str, Sequence[str]],
    sources: Mapping[str, str] = EMPTY,
) -> ExtractPart:
    """Return a function that keeps the rows of one Ask, with the ids that it gave.

    `field` is the list of rows in the reply, `key` the id in a row. `ids_of_ask` has every id of the merged Ask: a row is
    repeated for each of the Ask's ids, so an empty list drops the rows of other Asks. Rows with an id that is no key are
    kept, so that their reader rejects them. `sources` renames the sources that quotes name."""

    def rename_source(quote: Any) -> Any:
        # as below: the class first, because isinstance of an abstract class is slow
        is_mapping = quote.__class__ is dict or isinstance(quote, Mapping)
        name = quote.get("source") if is_mapping else None
        if isinstance(name, str) and name in sources:
            return {**quote, "source": sources[name]}
        return quote

    def extract(value: Any) -> Any:
        rows = value.get(field) if isinstance(value, Mapping) else None
        if not isinstance(rows, list):
            return value
        kept_rows: list[Any] = []
        for row in rows:
            # the class is compared first because isinstance of an abstract class is slow
            is_mapping = row.__class__ is dict or isinstance(row, Mapping)
            merged_id = row.get(key) if is_mapping else None
            if not isinstance(merged_id, str) or merged_id not in ids_of_ask:
                kept_rows.append(row)
                continue
            evidence = row.get("evidence")
            if sources and isinstance(evidence, list):
                row = {**row, "evidence": [rename_source(quote) for quote in evidence]}
            kept_rows += [{**row, key: ask_id} for ask_id in ids_of_ask[merged_id]]
        return {**value, field: kept_rows}

    return extract
