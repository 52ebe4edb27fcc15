"""`ragstone label` and `ragstone labels adjudicate`: show items one by one and store a label for each key pressed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from shutil import get_terminal_size

import click

from ragstone.cli.actions.keyboard import read_key
from ragstone.cli.actions.labels import format_value
from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.shared import open_run
from ragstone.labels import (
    Label,
    LabelSession,
    Target,
    list_disagreements,
    load_labels,
    load_run_labels,
    save_labels,
)
from ragstone.labels.label import SKIP, parse_target, parse_value
from ragstone.labels.selection import UnitChoice
from ragstone.labels.session import choose_author, count_answers
from ragstone.store import Store
from ragstone.types import Chunk, Sample

Keys = Mapping[str, tuple[str, str | float]]
"""Key → what it stands for, in a word, and the value that is stored."""

YES_NO: Keys = {"y": ("yes", 1.0), "n": ("no", 0.0)}
KEYS: Mapping[Target, Keys] = {
    "claim": {
        "s": ("supported", "supported"),
        "c": ("contradicted", "contradicted"),
        "n": ("not found", "not_found"),
    },
    "chunk": {"0": ("not relevant", 0.0), "1": ("partly", 0.5), "2": ("relevant", 1.0)},
    "preference": {"1": ("first", "first"), "2": ("second", "second"), "t": ("tie", "tie")},
}
QUESTIONS: Mapping[Target, str] = {
    "claim": "Do the contexts support the claim?",
    "chunk": "Is the chunk relevant to the question?",
    "support": "Is everything in the answer supported by the contexts?",
    "correctness": "Is the answer correct?",
    "relevance": "Does the answer address the question?",
    "refusal": "Does the answer decline to answer?",
    "preference": "Which answer is better?",
}
MAX_COLUMNS = 110
MAX_CHUNK_LINES = 12
"""Lines of a chunk that are shown before the rest is counted only; m shows all."""


def label_run(
    name: str,
    count: int,
    target_name: str,
    random_share: float,
    against: str | None,
    author: str | None,
    store_path: str | None,
) -> None:
    """Show the next units of a run and keep what the person says of each."""
    target = parse_target(target_name)
    run = open_run(name, store_path).stored
    other = None if against is None else run.store.run(against)
    session = LabelSession(run, target, choose_author(author), against=other)
    waiting = session.choose_next(count, random_share)
    if not waiting:
        click.echo(f"{session.author} has labelled every {target} of {run.info.name}")
        return
    past: list[UnitChoice] = []  # labelled in this session, for undo
    total, is_short = len(waiting), True
    while waiting:
        choice = waiting[0]
        sample = session.load_sample(choice)
        _show_unit(
            sample, choice.unit.item, target, f"{total - len(waiting) + 1} of {total}", is_short
        )
        key = _read_key(_list_keys(target))
        is_short = True
        if key == "q":
            break
        if key == "m":
            is_short = False
        elif key == "u":
            if past:
                waiting.insert(0, past.pop())
                session.take_back(waiting[0])
            else:
                click.echo("  nothing to take back in this session")
        else:
            session.save(choice, SKIP if key == "k" else _get_keys(target)[key][1])
            past.append(waiting.pop(0))
    answered, skipped = count_answers(session.own_labels)
    note(
        "{labels} by {author}, {skipped} skipped, of {total} in the run",
        labels=Count(answered, "label"),
        author=session.author,
        skipped=skipped,
        total=session.total,
    )
    note("the same command resumes; the corrected means: ragstone report {run}", run=run.id)


def adjudicate_items(name: str | None, author: str | None, store_path: str | None) -> None:
    """Show each item on which people differ, with what they said, and keep the decision."""
    store = Store.open(store_path)
    run = None if name is None else store.run(name)
    labels = load_labels(store) if run is None else load_run_labels(run)
    items = list_disagreements(labels)
    decided = 0
    for number, item_labels in enumerate(items, 1):
        target = item_labels[0].target
        click.secho(f"\n{number} of {len(items)}  {item_labels[0].sample}", bold=True)
        if item_labels[0].item:
            _print_field(target, item_labels[0].item)
        for label in item_labels:
            comment = f" ({label.comment})" if label.comment else ""
            _print_field(label.author or "unnamed", format_value(label) + comment)
        click.echo(f"  {QUESTIONS.get(target, target)}")
        key = _read_key({**_get_keys(target), "k": ("skip", SKIP), "q": ("quit", "")})
        if key == "q":
            break
        if key == "k":
            continue
        save_labels(store, [_decide(item_labels, _get_keys(target)[key][1], choose_author(author))])
        decided += 1
    note(
        "decided {decided} of {disagreements}",
        decided=decided,
        disagreements=Count(len(items), "disagreement"),
    )


def _decide(item_labels: Sequence[Label], given: str | float, author: str) -> Label:
    target = item_labels[0].target
    value, word = parse_value(target, given, None if isinstance(given, str) else (0.0, 1.0))
    chances = [label.chance for label in item_labels if label.chance is not None]
    return replace(
        item_labels[0], value=value, word=word, author=author, at=0, comment="", number=0,  # 0: set when it is stored
        chance=max(chances, default=None), origin="adjudicated",
    )  # fmt: skip


def _get_keys(target: Target) -> Keys:
    """The keys that give a label."""
    return KEYS.get(target, YES_NO)


def _list_keys(target: Target) -> Keys:
    """The keys of a label, and those that skip, show more, undo and quit."""
    more = {"k": ("skip", SKIP), "m": ("more", ""), "u": ("undo", ""), "q": ("quit", "")}
    return {**_get_keys(target), **more}


def _show_unit(sample: Sample, item: str, target: Target, head: str, is_short: bool) -> None:
    click.secho(f"\n{head}  {sample.id}", bold=True)
    most = MAX_CHUNK_LINES if is_short else None
    if sample.question is not None:
        _print_field("question", sample.question)
    for chunk in _list_chunks(sample, item, target):
        _print_field(chunk.id or "context", chunk.text, most)
    if target == "correctness" and sample.reference is not None:
        _print_field("reference", sample.reference)
    if sample.answer is not None and target != "chunk":
        _print_field("answer", sample.answer, most)
    if target == "claim":
        _print_field("claim", item)
    click.secho(f"  {QUESTIONS[target]}", bold=True)


def _list_chunks(sample: Sample, item: str, target: Target) -> tuple[Chunk, ...]:
    """The contexts that a label of this kind is given by: all, or the one that it is about."""
    chunks: tuple[Chunk, ...] = sample.contexts or ()
    if target == "chunk":
        return tuple(chunk for chunk in chunks if chunk.id == item)
    return chunks if target in ("claim", "support") else ()


def _print_field(name: str, text: str, most: int | None = None) -> None:
    wide = min(get_terminal_size().columns, MAX_COLUMNS)
    lines = textwrap.wrap(" ".join(text.split()), max(20, wide - 14)) or [""]
    hidden = 0 if most is None else max(0, len(lines) - most)
    for at, line in enumerate(lines[: len(lines) - hidden]):
        click.echo(f"  {name[:10] if at == 0 else '':<11} {line}")
    if hidden:
        click.echo(f"  {'':<11} … {hidden} more lines, m shows them")


def _read_key(keys: Keys) -> str:
    words = {key: word for key, (word, _) in keys.items()}
    return read_key(words, "  ".join(f"[{k}] {word}" for k, word in words.items()), "labelling")
