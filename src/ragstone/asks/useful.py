"""`useful`: grade how much each chunk helps to reach a target.

Among the passages of a prompt stands an invented one that is of no use."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ragstone.asks.choices import (
    Choice,
    ChoiceRequest,
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_chances,
    read_number,
)
from ragstone.asks.fences import choose_number, fence
from ragstone.asks.kind import ItemKey, Items, Kind, Members, Merge, register
from ragstone.asks.protocol import (
    TEXT,
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    build_rows_by_id,
    match_rows,
    pin_ids,
)
from ragstone.asks.rows import (
    align_rows,
    choose_median,
    extract_rows,
    list_texts,
    note_disagreement,
    number_sources,
)
from ragstone.asks.schemas import STRING, array_of, enum_of, object_of
from ragstone.asks.traps import make_trap
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose
from ragstone.prompts import Prompt
from ragstone.types import Chunk


def useful(
    question: str,
    chunks: Sequence[Chunk],
    targets: Mapping[str, str | None],
    *,
    wording: int = 1,
    language: str | None = None,
) -> Ask:
    """Grade each chunk 0, 1 or 2 for each target: a text to be reached (an answer, a reference), or None for the question alone."""
    values = {
        "question": question,
        "chunks": number_sources(chunks),
        "targets": dict(targets),
        "wording": wording,
    }
    return Ask("useful", values, build_useful_schema(tuple(targets)), language)


@lru_cache(maxsize=64)
def build_useful_schema(targets: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a `useful` reply about these targets."""
    grade = {"type": "integer", "enum": [0, 1, 2]}
    row = object_of(id=STRING, target=enum_of(*targets), grade=grade, reason=STRING)
    return object_of(grades=array_of(row))


GRADES = (0, 1, 2)


Pair = tuple[str, str]
"""Id of a passage and name of a target."""


class UsefulSpec:
    """The pairs of passage and target of a `useful` Ask."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.chunks = ask.values["chunks"]
        self.targets = ask.values["targets"]
        self.prompt = "useful_2" if ask.values.get("wording") == 2 else "useful"
        self.items: list[Pair] = [(c["id"], target) for c in self.chunks for target in self.targets]

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the passages and targets of these pairs."""
        pairs = set(items)
        chunks = [c for c in self.chunks if any((c["id"], t) in pairs for t in self.targets)]
        targets = {
            name: text
            for name, text in self.targets.items()
            if any((c["id"], name) in pairs for c in chunks)
        }
        return _UsefulBatch(self.ask, chunks, targets, nonce)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one grade for each pair, in the order of the Ask."""
        rows = [{"id": item[0], "target": item[1], **settled[item]} for item in self.items]
        return {"grades": rows}

    def find_gap(self, value: Any) -> str:
        """Return which pairs a reply has no grade of, or more than one."""
        rows = (((row["id"], row["target"]), row) for row in value["grades"])
        return match_rows(rows, self.items).fault


class _UsefulBatch:
    """Some passages and targets in one prompt: passages renumbered, an invented one among them."""

    def __init__(
        self,
        ask: Ask,
        chunks: Sequence[Mapping[str, str]],
        targets: Mapping[str, str | None],
        nonce: str,
    ) -> None:
        question = ask.values["question"]
        texts = [question, *(c["text"] for c in chunks), *filter(None, targets.values())]
        probe = {"id": "", "text": make_trap(f"{nonce}:useful", ask.language, texts)}
        at = choose_number(f"{nonce}:place", len(chunks) + 1)
        shown = [*chunks[:at], probe, *chunks[at:]]
        self.passage_of = {f"k{n}": passage["id"] for n, passage in enumerate(shown, 1)}
        """Label in the prompt → id of the passage in the Ask; empty for the invented one."""
        self.targets = list(targets)
        goals = [
            fence(nonce, f"target {name}", text) if text is not None else f"target {name}: open"
            for name, text in targets.items()
        ]
        self.values: Mapping[str, str] = {
            "question": fence(nonce, "question", question),
            "targets": "\n".join(goals),
            "chunks": "\n".join(
                fence(nonce, f"passage k{n}", passage["text"]) for n, passage in enumerate(shown, 1)
            ),
        }
        self.schema = _build_schema(len(shown), tuple(targets))

    def parse(self, value: Any) -> ParsedReply:
        """Return the grades by pair; raises JudgeFailed when the invented passage is graded as high as any other."""
        only = self.targets[0]  # the schema of a single target has no field for it
        rows = [((row["id"], row.get("target", only)), row) for row in value["grades"]]
        pairs = [(label, target) for label in self.passage_of for target in self.targets]
        parsed = match_rows(rows, pairs)
        if parsed.fault:  # labels are not named: those of the next prompt differ
            parsed.fault = compose("passages_mixed_up")
        probe_label = next(label for label, passage in self.passage_of.items() if not passage)
        for target in self.targets:
            grades = self._collect_grades(parsed, target)
            probe = grades.get(probe_label)
            # without its probe no grade of this reply counts; all are asked again
            if probe is None:
                parsed.settled = {}
                return parsed
            if probe > 0 and probe >= max(grades.values()):
                raise JudgeFailed("compromised", "probe_useful")
        parsed.settled = {
            (self.passage_of[pair[0]], pair[1]): {"grade": row["grade"], "reason": row["reason"]}
            for pair in pairs
            if self.passage_of[pair[0]] and (row := parsed.settled.get(pair)) is not None
        }
        return parsed

    def _collect_grades(self, parsed: ParsedReply, target: str) -> dict[str, int]:
        """Label → grade for a target, of the passages that have one."""
        return {
            label: parsed.settled[label, target]["grade"]
            for label in self.passage_of
            if (label, target) in parsed.settled
        }


@lru_cache(maxsize=256)
def _build_schema(count: int, targets: tuple[str, ...]) -> ReplySchema:
    ids = [f"k{n}" for n in range(1, count + 1)]
    result = {"grade": {"type": "integer", "enum": list(GRADES)}, "reason": TEXT}
    if len(targets) == 1:
        return build_reply_schema(grades=build_rows_by_id(ids, **result))
    rows = build_rows(id=pin_ids(ids), target=pin_ids(targets), **result)
    return build_reply_schema(grades=rows)


CHOSEN_GRADES = (2, 1, 0)
"""What the options of `choose_useful`, `choose_useful_2` and `choose_reaches` mean."""


def choose_useful(ask: Ask, code: LocalCode) -> Deciding:
    """Ask of each passage how much it tells; once one is called useful, an invented one must not be."""
    values = ask.values
    question = values["question"]
    rows = []
    for target, text in values["targets"].items():
        prompt = code.load_prompt(_name_prompt(text, values.get("wording")))
        passages = [
            "\n".join(code.choose_passages([text or question], [chunk["text"]]))
            for chunk in values["chunks"]
        ]
        requests = [_ask_useful(prompt, question, text, passage) for passage in passages]
        choices = yield tuple(requests)
        graded = [
            {"id": chunk["id"], "target": target, **_read_grade(choice, request)}
            for chunk, choice, request in zip(values["chunks"], choices, requests, strict=True)
        ]
        if any(row["grade"] for row in graded):
            trap = make_trap(f"{ask.key}:{target}", ask.language, passages)
            request = _ask_useful(prompt, question, text, trap)
            (control,) = yield (request,)
            if _read_grade(control, request)["grade"]:
                raise JudgeFailed("compromised", "useful_trap_taken")
        rows += graded
    return {"grades": rows}


def _name_prompt(target: str | None, wording: Any) -> str:
    if target is not None:
        return "choose_reaches"
    return "choose_useful_2" if wording == 2 else "choose_useful"


def _ask_useful(prompt: Prompt, question: str, target: str | None, passage: str) -> ChoiceRequest:
    texts = {"question": question, "target": target or "", "passage": passage}
    return build_request(prompt, {name: fence_texts(text) for name, text in texts.items()})


def _read_grade(choice: Choice, request: ChoiceRequest) -> dict[str, Any]:
    """Return the grade of one passage; useful is what is more likely so than not."""
    chances = read_chances(choice, request)
    if chances is None:
        grade = CHOSEN_GRADES[read_number(choice, request)]
        return {"grade": grade, "reason": compose("model_graded", grade=grade)}
    fully, partly, _ = chances  # in the order of CHOSEN_GRADES
    chance = fully + partly
    grade = 0 if chance < 0.5 else 2 if fully >= partly else 1
    reason = compose("model_graded_with_chance", grade=grade, p=round(chance, 2))
    return {"grade": grade, "reason": reason, "probability": round(chance, 4)}


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
            members.append((ask, extract_rows("grades", "target", ids_of_ask)))
        result.append((united, members))
    return result


def _vote_on_grades(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    rows, split = [], 0
    for ballot in align_rows([value["grades"] for value in values], "id", "target"):
        split += len({row["grade"] for row in ballot}) > 1
        rows.append(choose_median(ballot, "grade"))
    return {"grades": rows}, note_disagreement(split, len(rows), "jury_split_grades")


def _group_useful(ask: Ask) -> Hashable:
    values = ask.values
    return (values["question"], values["wording"], *list_texts(values["chunks"]))


def _list_contents(ask: Ask) -> Iterator[tuple[ItemKey, Any]]:
    question = ask.values["question"]
    for chunk in ask.values["chunks"]:
        for name, text in ask.values["targets"].items():
            # not the wording: both wordings of one question are checked on the same chunks
            yield (chunk["id"], name), [question, text, chunk["text"]]


def _narrow(ask: Ask, asked: frozenset[ItemKey]) -> Ask:
    ids = {chunk for chunk, _ in asked}
    chunks = [chunk for chunk in ask.values["chunks"] if chunk["id"] in ids]
    return replace(ask, values={**ask.values, "chunks": chunks})


KIND = register(
    Kind(
        "useful",
        lambda language: useful("x", [Chunk(text="x")], {"question": None}, language=language),
        spec=UsefulSpec,
        choose=choose_useful,
        prompts=("choose_useful", "choose_useful_2", "choose_reaches"),
        vote=_vote_on_grades,
        merge=Merge(_group_useful, _unite_useful),
        items=Items("grades", "grade", _list_contents, _narrow),
    )
)
