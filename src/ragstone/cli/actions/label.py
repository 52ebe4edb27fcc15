"""`ragstone label` and `ragstone labels adjudicate`: show items one by one and store a label for each key pressed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shutil import get_terminal_size

import click

from ragstone.cli.actions.keyboard import read_key
from ragstone.cli.actions.labels import format_value
from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.shared import choose_language, open_run
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
from ragstone.report.translator import Translator, load_translator
from ragstone.store import Store, StoredRun
from ragstone.types import Chunk, Sample

Keys = Mapping[str, tuple[str, str | float]]
"""Key → what it stands for, a word of the catalogue (`label_key.yes`), and the value that is stored."""

YES_NO: Keys = {"y": ("yes", 1.0), "n": ("no", 0.0)}
KEYS: Mapping[Target, Keys] = {
    "claim": {
        "s": ("supported", "supported"),
        "c": ("contradicted", "contradicted"),
        "n": ("not_found", "not_found"),
    },
    "chunk": {"0": ("irrelevant", 0.0), "1": ("partly", 0.5), "2": ("relevant", 1.0)},
    "preference": {"1": ("first", "first"), "2": ("second", "second"), "t": ("tie", "tie")},
}
MORE_WORDS = {"k": "skip", "m": "more", "u": "undo", "q": "quit"}
MORE_KEYS = tuple(MORE_WORDS)
"""Keys that give no label."""
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
    say = load_translator(choose_language())
    session = LabelSession(run, target, choose_author(author), against=other)
    waiting = session.choose_next(count, random_share)
    if not waiting:
        click.echo(say("label_done", author=session.author, run=run.info.name))
        return
    past: list[UnitChoice] = []  # labelled in this session, for undo
    total, is_short = len(waiting), True
    while waiting:
        choice = waiting[0]
        sample = session.load_sample(choice)
        _show_head(total - len(waiting) + 1, total, sample.id, say)
        _show_texts(sample, choice.unit.item, target, is_short, say)
        key = _read_key(target, MORE_KEYS, say)
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
                click.echo(f"  {say('label_nothing_back')}")
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
    """Show each item on which people differ, with its texts and what they said, and keep the decision."""
    store = Store.open(store_path)
    run = None if name is None else store.run(name)
    labels = load_labels(store) if run is None else load_run_labels(run)
    items = list_disagreements(labels)
    say = load_translator(choose_language())
    samples = _load_samples(store, run, items)
    decided = 0
    for number, item_labels in enumerate(items, 1):
        first = item_labels[0]
        _show_head(number, len(items), first.sample, say)
        if (sample := samples.get((first.run, first.sample))) is not None:
            _show_texts(sample, first.item, first.target, True, say)
        elif first.item:
            _print_field(first.target, first.item, say)
        for label in item_labels:
            comment = f" ({label.comment})" if label.comment else ""
            _print_field(label.author or "unnamed", _name_value(label, say) + comment, say)
        key = _read_key(first.target, ("k", "q"), say)
        if key == "q":
            break
        if key == "k":
            continue
        value = _get_keys(first.target)[key][1]
        save_labels(store, [_decide(item_labels, value, choose_author(author))])
        decided += 1
    note(
        "decided {decided} of {disagreements}",
        decided=decided,
        disagreements=Count(len(items), "disagreement"),
    )


def _load_samples(
    store: Store, run: StoredRun | None, items: Iterable[Sequence[Label]]
) -> dict[tuple[str, str], Sample]:
    """The labelled samples by the run of the label and their id, where the run is still in the store."""
    wanted: dict[str, set[str]] = {}
    for label, *_ in items:
        wanted.setdefault(label.run, set()).add(label.sample)
    known = {info.id for info in store.runs()}
    samples: dict[tuple[str, str], Sample] = {}
    for name, ids in wanted.items():
        source = run or (store.run(name) if name in known else None)
        rows = source.rows() if source is not None else ()
        samples |= {(name, row.id): row.sample for row in rows if row.id in ids}
    return samples


def _name_value(label: Label, say: Translator) -> str:
    """What a label says, in the word of its key where it has one."""
    words = (
        word
        for word, value in _get_keys(label.target).values()
        if value in (label.value, label.word)
    )
    word = next(words, None)
    return format_value(label) if word is None else say(f"label_key.{word}")


def _decide(item_labels: Sequence[Label], given: str | float, author: str) -> Label:
    target = item_labels[0].target
    value, word = parse_value(target, given, None if isinstance(given, str) else (0.0, 1.0))
    probabilities = [
        label.sampling_probability
        for label in item_labels
        if label.sampling_probability is not None
    ]
    return replace(
        item_labels[0], value=value, word=word, author=author, at=0, comment="", number=0,  # 0: set when it is stored
        sampling_probability=max(probabilities, default=None), origin="adjudicated",
    )  # fmt: skip


def _get_keys(target: Target) -> Keys:
    """The keys that give a label."""
    return KEYS.get(target, YES_NO)


def _show_head(number: int, total: int, sample: str, say: Translator) -> None:
    click.secho(f"\n{say('label_head', n=number, total=total)}  {sample}", bold=True)


def _show_texts(sample: Sample, item: str, target: Target, is_short: bool, say: Translator) -> None:
    """Print what a label of this kind is given by, and the question that it answers."""
    most = MAX_CHUNK_LINES if is_short else None
    if sample.question is not None:
        _print_field(say("label_field.question"), sample.question, say)
    for chunk in _list_chunks(sample, item, target):
        _print_field(chunk.id or say("label_field.context"), chunk.text, say, most)
    if target == "correctness" and sample.reference is not None:
        _print_field(say("label_field.reference"), sample.reference, say)
    if sample.answer is not None and target != "chunk":
        _print_field(say("label_field.answer"), sample.answer, say, most)
    if target == "claim":
        _print_field(say("label_field.claim"), item, say)
    click.secho(f"  {say.translate('view.asks', target)}", bold=True)


def _list_chunks(sample: Sample, item: str, target: Target) -> tuple[Chunk, ...]:
    """The contexts that a label of this kind is given by: all, or the one that it is about."""
    chunks: tuple[Chunk, ...] = sample.contexts or ()
    if target == "chunk":
        return tuple(chunk for chunk in chunks if chunk.id == item)
    return chunks if target in ("claim", "support") else ()


def _print_field(name: str, text: str, say: Translator, most: int | None = None) -> None:
    wide = min(get_terminal_size().columns, MAX_COLUMNS)
    lines = textwrap.wrap(" ".join(text.split()), max(20, wide - 14)) or [""]
    hidden = 0 if most is None else max(0, len(lines) - most)
    for at, line in enumerate(lines[: len(lines) - hidden]):
        click.echo(f"  {name[:10] if at == 0 else '':<11} {line}")
    if hidden:
        click.echo(f"  {'':<11} {say('label_more_lines', n=hidden)}")


def _read_key(target: Target, more: Sequence[str], say: Translator) -> str:
    words = {key: say(f"label_key.{word}") for key, (word, _) in _get_keys(target).items()}
    words |= {key: say(f"label_key.{MORE_WORDS[key]}") for key in more}
    return read_key(words, "  ".join(f"[{k}] {word}" for k, word in words.items()), "labelling")
