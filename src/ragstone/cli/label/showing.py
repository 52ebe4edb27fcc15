"""What is shown of an item to be labelled, and the keys that label it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size

import click

from ragstone.cli.keyboard import read_key
from ragstone.labels import (
    Label,
    Target,
    load_labels,
    load_run_labels,
)
from ragstone.report.translator import Translator
from ragstone.store import Store
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


MAX_COLUMNS = 110


MAX_CHUNK_LINES = 12
"""Lines of a chunk that are shown before the rest is counted only; m shows all."""


def get_keys(target: Target) -> Keys:
    """The keys that give a label."""
    return KEYS.get(target, YES_NO)


def show_head(number: int, total: int, sample: str, say: Translator) -> None:
    click.secho(f"\n{say('label_head', n=number, total=total)}  {sample}", bold=True)


def show_texts(sample: Sample, item: str, target: Target, is_short: bool, say: Translator) -> None:
    """Print what a label of this kind is given by, and the question that it answers."""
    most = MAX_CHUNK_LINES if is_short else None
    if sample.question is not None:
        print_field(say("label_field.question"), sample.question, say)
    for chunk in _list_chunks(sample, item, target):
        print_field(chunk.id or say("label_field.context"), chunk.text, say, most)
    if target == "correctness" and sample.reference is not None:
        print_field(say("label_field.reference"), sample.reference, say)
    if sample.answer is not None and target != "chunk":
        print_field(say("label_field.answer"), sample.answer, say, most)
    if target == "claim":
        print_field(say("label_field.claim"), item, say)
    click.secho(f"  {say.translate('view.asks', target)}", bold=True)


def _list_chunks(sample: Sample, item: str, target: Target) -> tuple[Chunk, ...]:
    """The contexts that a label of this kind is given by: all, or the one that it is about."""
    chunks: tuple[Chunk, ...] = sample.contexts or ()
    if target == "chunk":
        return tuple(chunk for chunk in chunks if chunk.id == item)
    return chunks if target in ("claim", "support") else ()


def print_field(name: str, text: str, say: Translator, most: int | None = None) -> None:
    wide = min(get_terminal_size().columns, MAX_COLUMNS)
    lines = textwrap.wrap(" ".join(text.split()), max(20, wide - 14)) or [""]
    hidden = 0 if most is None else max(0, len(lines) - most)
    for at, line in enumerate(lines[: len(lines) - hidden]):
        click.echo(f"  {name[:10] if at == 0 else '':<11} {line}")
    if hidden:
        click.echo(f"  {'':<11} {say('label_more_lines', n=hidden)}")


def read_label_key(target: Target, more: Sequence[str], say: Translator) -> str:
    words = {key: say(f"label_key.{word}") for key, (word, _) in get_keys(target).items()}
    words |= {key: say(f"label_key.{MORE_WORDS[key]}") for key in more}
    return read_key(words, "  ".join(f"[{k}] {word}" for k, word in words.items()), "labelling")


def format_value(label: Label) -> str:
    """What a label says, in a word or number."""
    return label.word or ("–" if label.value is None else f"{label.value:g}")


def load_counting_labels(store: Store, run: str | None) -> list[Label]:
    """The labels that count: all, or those of a run."""
    return load_labels(store) if run is None else load_run_labels(store.run(run))
