"""A test set's check-up as people read it: terminal, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RagstoneError
from ragstone.report.words import Words, words

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.testset.checkup import Checkup

ENDINGS = (".md", ".json")
"""What a check-up can be written as."""
SHOWN = 5
"""Items shown of each fault."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with a table, lines, or both."""

    title: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    lines: tuple[str, ...] = ()
    examples: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    """A line, and the lines that belong under it."""


def write(checkup: Checkup, path: str, language: str = "en") -> None:
    """Write the check-up in the format of the path's extension."""
    from ragstone.report.files import write_text

    ending = Path(path).suffix.lower()
    if ending == ".json":
        plain = json.dumps(checkup.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
        write_text(path, plain + "\n")
    elif ending == ".md":
        write_text(path, markdown(checkup, language))
    else:
        raise RagstoneError(
            f"{path!r} names no format of this report; end it in one of {' '.join(ENDINGS)}"
        )


def show(checkup: Checkup, console: Console, language: str = "en") -> None:
    """Print the check-up."""
    from ragstone.report.terminal import Screen

    screen = Screen(console, words(language))
    screen.line(screen.say("checkup", name=Path(checkup.source).name), "bold")
    screen.line(_size(checkup, screen.say))
    for section in sections(checkup, screen.say):
        screen.line("")
        screen.line(section.title, "bold")
        if section.rows:
            heads = enumerate(section.heads)
            table = screen.table(*((head, at > 1) for at, head in heads))
            for row in section.rows:
                table.add_row(*map(screen.cell, row))
            screen.put(table)
        for line in section.lines:
            screen.indented(line)
        for line, under in section.examples:
            screen.indented(line, "yellow")
            for text in under:
                screen.indented(f"  {text}", "dim")
    screen.line("")
    screen.line(_ending(checkup, screen.say), "red" if checkup.faults else "green")


def markdown(checkup: Checkup, language: str = "en") -> str:
    """The check-up as GitHub-flavoured Markdown."""
    from ragstone.report.markdown import escaped, table

    say = words(language)
    parts = [
        [f"# {escaped(say('checkup', name=Path(checkup.source).name), 120)}"],
        [f"**{_ending(checkup, say)}** {_size(checkup, say)}."],
    ]
    for section in sections(checkup, say):
        part = [f"## {section.title}", ""]
        if section.rows:
            rows = [[escaped(cell) for cell in row] for row in section.rows]
            part += [*table(section.heads, rows, words=2), ""]
        part += [f"- {escaped(line)}" for line in section.lines]
        for line, under in section.examples:
            part.append(f"- {escaped(line)}")
            part += [f"    - {escaped(text)}" for text in under]
        parts.append(part)
    return "\n\n".join("\n".join(part).rstrip() for part in parts) + "\n"


def sections(checkup: Checkup, say: Words) -> Iterator[Section]:
    """Balance, coverage, faults, trivial systems, power."""
    yield _balance(checkup, say)
    yield Section(say("checkup.coverage"), lines=tuple(_coverage(checkup, say)))
    yield _faults(checkup, say)
    yield Section(say("checkup.trivial"), lines=tuple(_trivial(checkup, say)))
    yield Section(say("checkup.power"), lines=tuple(_power(checkup, say)))


def _balance(checkup: Checkup, say: Words) -> Section:
    rows: list[tuple[str, ...]] = []
    for name, counts in (
        ("kind", checkup.kinds),
        ("difficulty", checkup.difficulties),
        ("language", checkup.languages),
    ):
        head = say(f"checkup.{name}")
        if not counts:
            rows.append((head, say("checkup.unknown"), "–", "–"))
        for value, count in counts.items():
            rows.append((head, value, say.whole(count), say.percent(count / checkup.total)))
            head = ""
    heads = ("", "", say("count"), say("checkup.share"))
    return Section(say("checkup.balance"), heads, tuple(rows))


def _coverage(checkup: Checkup, say: Words) -> Iterator[str]:
    found = checkup.coverage
    if found is None:
        yield say("checkup.coverage.none")
        return
    yield say(
        "checkup.coverage.documents",
        asked=say.whole(found.asked),
        documents=say.whole(found.documents),
        share=say.percent(found.asked / found.documents),
    )
    if found.topics > 1:
        asked, topics = say.whole(found.topics_asked), say.whole(found.topics)
        yield say("checkup.coverage.topics", asked=asked, topics=topics)
    if found.most:
        names = ", ".join(f"{name} ({say.whole(count)})" for name, count in found.most)
        yield say("checkup.coverage.most", names=names)


def _faults(checkup: Checkup, say: Words) -> Section:
    title = say("checkup.faults")
    groups = checkup.by_kind()
    if not groups:
        return Section(title, lines=(say("checkup.faults.none"),))
    examples = []
    for kind, some in groups.items():
        under = [
            f"{one.id}  {one.text}" + (f"  [{one.detail}]" if one.detail else "") for one in some
        ]
        more = [say("checkup.faults.more", n=say.whole(len(some) - SHOWN))] * (len(some) > SHOWN)
        head = f"{say.whole(len(some))} × {say(f'checkup.fault.{kind}')}"
        examples.append((head, (*under[:SHOWN], *more)))
    return Section(title, examples=tuple(examples))


def _trivial(checkup: Checkup, say: Words) -> Iterator[str]:
    found = checkup.trivial
    answer = found.constant_answer
    shown = answer if len(answer) <= 60 else answer[:59] + "…"
    yield say("checkup.trivial.constant", answer=shown, share=say.percent(found.constant))
    if found.first is not None and found.answer_in_first is not None:
        first, told = say.percent(found.first), say.percent(found.answer_in_first)
        yield say("checkup.trivial.first", share=first, told=told)


def _power(checkup: Checkup, say: Words) -> Iterator[str]:
    yield say("checkup.power.shows", effect=say.number(checkup.shows, 2))
    for need in checkup.needs:
        effect, count = say.number(need.effect, 2), say.whole(need.questions)
        yield say("checkup.power.need", effect=effect, questions=count)


def _size(checkup: Checkup, say: Words) -> str:
    return say(
        "checkup.size",
        total=say.whole(checkup.total),
        answerable=say.whole(checkup.answerable),
        impossible=say.whole(checkup.total - checkup.answerable),
    )


def _ending(checkup: Checkup, say: Words) -> str:
    if not checkup.faults:
        return say("checkup.fine")
    return say("checkup.wrong", n=say.whole(checkup.faulty), total=say.whole(checkup.total))
