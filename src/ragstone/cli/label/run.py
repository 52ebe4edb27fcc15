"""`ragstone label RUN`: claims, chunks or answers of a run, by keyboard."""

from __future__ import annotations

import click

from ragstone.cli.label.showing import (
    MORE_WORDS,
    get_keys,
    read_label_key,
    show_head,
    show_texts,
)
from ragstone.cli.messages import Count, note
from ragstone.cli.options import store_option
from ragstone.cli.shared import choose_language, open_run
from ragstone.labels import (
    LabelSession,
)
from ragstone.labels.label import SKIP, parse_target
from ragstone.labels.selection import UnitChoice
from ragstone.labels.session import choose_author, count_answers
from ragstone.report.translator import load_translator

MORE_KEYS = tuple(MORE_WORDS)
"""Keys that give no label."""


@click.command("run")
@click.argument("run", default="last")
@click.option(
    "--next",
    "count",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="How many to label now.",
)
@click.option(
    "--on",
    "target",
    default="claim",
    show_default=True,
    type=click.Choice(["claim", "chunk", "support", "correctness", "relevance", "refusal"]),
    help="What to label.",
)
@click.option(
    "--random",
    "random_share",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="Share drawn at random; statistics need it. The rest is where the judge is unsure.",
)
@click.option(
    "--against",
    metavar="RUN",
    help="A run of the same samples with another judge: label where the two disagree.",
)
@click.option("--author", metavar="NAME", help="Your name [default: the account's].")
@store_option
def command(
    run: str,
    count: int,
    target: str,
    random_share: float,
    against: str | None,
    author: str | None,
    store: str | None,
) -> None:
    """Label claims, chunks or answers of a run with the keyboard.

    RUN is its id, the start of its id, its name, or `last` (the default). Every label is stored as it is given: quit at any
    time, the same command resumes."""
    wanted = parse_target(target)
    stored = open_run(run, store).stored
    other = None if against is None else stored.store.run(against)
    say = load_translator(choose_language())
    session = LabelSession(stored, wanted, choose_author(author), against=other)
    waiting = session.choose_next(count, random_share)
    if not waiting:
        click.echo(say("label_done", author=session.author, run=stored.info.name))
        return
    past: list[UnitChoice] = []  # labelled in this session, for undo
    total, is_short = len(waiting), True
    while waiting:
        choice = waiting[0]
        sample = session.load_sample(choice)
        show_head(total - len(waiting) + 1, total, sample.id, say)
        show_texts(sample, choice.unit.item, wanted, is_short, say)
        key = read_label_key(wanted, MORE_KEYS, say)
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
            session.save(choice, SKIP if key == "k" else get_keys(wanted)[key][1])
            past.append(waiting.pop(0))
    answered, skipped = count_answers(session.own_labels)
    note(
        "{labels} by {author}, {skipped} skipped, of {total} in the run",
        labels=Count(answered, "label"),
        author=session.author,
        skipped=skipped,
        total=session.total,
    )
    note("the same command resumes; the corrected means: ragstone report {run}", run=stored.id)
