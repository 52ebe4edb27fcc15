"""`ragstone generate --review`: show the items of a test set one by one, to accept, edit or reject them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from shutil import get_terminal_size

import click

from ragstone.cli.keyboard import read_key
from ragstone.cli.messages import Count, note
from ragstone.testset.items import Item, get_abstention
from ragstone.testset.review import Decision, Review, decisions_file

KEYS = {"a": "accept", "e": "edit", "r": "reject", "u": "undo", "q": "quit"}
MAX_COLUMNS = 100


def review_items(path: Path) -> int:
    """Show the open items and keep what is decided; the exit code."""
    session = Review.open(path)
    waiting = session.open_items
    if not waiting:
        click.echo(f"every item of {path} is decided: {_format_counts(session)}")
        session.write_decided()
        return 0
    past: list[Item] = []
    while waiting:
        item = waiting[0]
        _show_item(item, len(session.items) - len(waiting) + 1, len(session.items))
        key = read_key(KEYS, "  ".join(f"[{k}]{word[1:]}" for k, word in KEYS.items()), "a review")
        if key == "q":
            break
        if key == "u":
            if past:
                waiting.insert(0, past.pop())
                session.take_back(waiting[0].id)
            else:
                click.echo("nothing to take back in this session")
            continue
        if _apply_key(session, item, key):
            # Only what was decided in this session can be taken back with u; earlier decisions are
            # in the file.
            past.append(waiting.pop(0))
    remaining = session.write_decided() if session.decisions else len(session.items)
    note(
        "{session}, {items} open; {path} now has {remaining}",
        session=_format_counts(session),
        items=Count(len(session.open_items), "item"),
        path=path,
        remaining=remaining,
    )
    note("the decisions are in {path}; the same command resumes", path=decisions_file(path))
    return 0


def _apply_key(session: Review, item: Item, key: str) -> bool:
    """Apply the decision that a key stands for; returns whether there was one."""
    if key == "a":
        session.decide(Decision(item.id, "accept"))
    elif key == "r":
        session.decide(Decision(item.id, "reject"))
    else:
        question = _ask_text("question", item.question)
        reference = _ask_text("answer", item.reference) if item.reference is not None else None
        if question == item.question and reference == item.reference:
            click.echo("  nothing changed; press a to accept")
            return False
        # None for what stays as it is
        changed = (
            question if question != item.question else None,
            reference if reference != item.reference else None,
        )
        session.decide(Decision(item.id, "edit", *changed))
    return True


def _show_item(item: Item, number: int, total: int) -> None:
    wide = min(get_terminal_size().columns, MAX_COLUMNS)
    head = f"{number} of {total}  {item.kind}, {item.difficulty}, {item.language}  ({item.how})"
    click.echo()
    click.secho(head if len(head) <= wide else f"{head[: wide - 1]}…", bold=True)
    for turn, text in enumerate(item.history):  # questions and answers in turn
        _print_field("asked" if turn % 2 == 0 else "told", text, wide)
    _print_field("question", item.question, wide)
    answer = item.reference if item.reference is not None else get_abstention(item.language)
    _print_field("answer", answer, wide)
    for quote in item.evidence:
        _print_field("evidence", f"{quote.document}: “{quote.quote}”", wide)
    if not item.evidence:
        _print_field("evidence", "none: the documents do not tell", wide)


def _print_field(name: str, text: str, wide: int) -> None:
    lines = textwrap.wrap(" ".join(text.split()), max(20, wide - 12)) or [""]
    for at, line in enumerate(lines):
        click.echo(f"  {name if at == 0 else '':<9} {line}")


def _ask_text(what: str, text: str) -> str:
    """The text as the person wants it; an empty line leaves it as it is."""
    answer: str = click.prompt(f"  new {what} (empty: as it is)", default="", show_default=False)
    return answer.strip() or text


def _format_counts(session: Review) -> str:
    counts = session.count_verdicts()
    return (
        f"{counts['accept']:,} accepted, {counts['edit']:,} edited, {counts['reject']:,} rejected"
    )
