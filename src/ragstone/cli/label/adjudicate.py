"""`ragstone label adjudicate`"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from ragstone.cli.label.showing import (
    format_value,
    get_keys,
    print_field,
    read_label_key,
    show_head,
    show_texts,
)
from ragstone.cli.messages import Count, note
from ragstone.cli.options import store_option
from ragstone.cli.shared import choose_language
from ragstone.labels import (
    Label,
    list_disagreements,
    load_labels,
    load_run_labels,
    save_labels,
)
from ragstone.labels.label import parse_value
from ragstone.labels.session import choose_author
from ragstone.report.translator import Translator, load_translator
from ragstone.store import Store, StoredRun
from ragstone.types import Sample


@click.command("adjudicate")
@click.option("--run", metavar="RUN", help="Only labels that count for this run.")
@click.option("--author", metavar="NAME", help="Who decides [default: the account's name].")
@store_option
def command(run: str | None, author: str | None, store: str | None) -> None:
    """Decide the items on which people disagree, one by one; the decision counts instead of their labels."""
    opened = Store.open(store)
    stored = None if run is None else opened.run(run)
    labels = load_labels(opened) if stored is None else load_run_labels(stored)
    items = list_disagreements(labels)
    say = load_translator(choose_language())
    samples = _load_samples(opened, stored, items)
    decided = 0
    for number, item_labels in enumerate(items, 1):
        first = item_labels[0]
        show_head(number, len(items), first.sample, say)
        if (sample := samples.get((first.run, first.sample))) is not None:
            show_texts(sample, first.item, first.target, True, say)
        elif first.item:
            print_field(first.target, first.item, say)
        for label in item_labels:
            comment = f" ({label.comment})" if label.comment else ""
            print_field(label.author or "unnamed", _name_value(label, say) + comment, say)
        key = read_label_key(first.target, ("k", "q"), say)
        if key == "q":
            break
        if key == "k":
            continue
        value = get_keys(first.target)[key][1]
        save_labels(opened, [_decide(item_labels, value, choose_author(author))])
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
        for word, value in get_keys(label.target).values()
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
