"""Options of `ragstone testset`: audit a test set, show its card, compare two versions of one."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ragstone import report
from ragstone.cli.messages import note
from ragstone.cli.options import judge_options, output_option, reading_options, store_option
from ragstone.cli.plans import parse_fields
from ragstone.cli.progress import Bar
from ragstone.cli.shared import choose_language
from ragstone.data.writers import open_replacement
from ragstone.errors import ConfigError, DataError, suggest_nearest
from ragstone.labels.reader import read_labels
from ragstone.report.formats import describe_unknown, list_endings
from ragstone.report.pages.checkup import TEXT_CHARS
from ragstone.report.remarks import shorten
from ragstone.report.translator import Translator, load_translator
from ragstone.store import Store
from ragstone.store.testsets import list_testsets, load_items, write_rows
from ragstone.testset.card import DatasetCard, build_card
from ragstone.testset.checkup import Checkup, check_testset, fix_testset
from ragstone.testset.doubt_reader import ReadingJudge
from ragstone.testset.findings import FAULTS, Fault
from ragstone.testset.versions import VersionDifference, compare_versions


@click.group("testset")
def command() -> None:
    """Judge a test set: what is wrong with it, where it comes from, and how it differs from its last version."""


@command.command("check")
@click.argument("file")
@click.option("--documents", multiple=True, metavar="DOCS", help="The corpus: a folder, a file or a BEIR folder. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--fix", "fix", metavar="FILE", help="Ask for each fix that was found, and write the set with those you accept to FILE (jsonl).")  # fmt: skip
@click.option("--accept", metavar="KIND,…", help="With --fix: accept the fixes of these kinds without asking (duplicate, leaked, …), or all.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@judge_options("Who reads the passages that may answer an item which is said to have no answer: openai:MODEL, … [default: nobody, figures alone decide].")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions to the judge in flight at once.")  # fmt: skip
@click.option(
    "--stored",
    is_flag=True,
    help="FILE is the name of a test set in the store, as the viewer keeps them.",
)
@store_option
@reading_options
def check(file: str, documents: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Say what a test set covers, what is wrong with it and what it can show.

    FILE is a test set in any format that is read, or with --stored the name of one in the store. With its documents, coverage, evidence and a BM25 search are looked at too.

    Exit codes: 0 all well, 1 an item needs attention, 2 bad input, 3 the judge could not read every item."""
    errors: list[str] = []
    fields = parse_fields(flags["fields"], errors)
    errors += _list_unknown_endings(output)
    if errors:
        raise ConfigError(errors)
    if flags["accept"] is not None and flags["fix"] is None:
        raise click.UsageError("--accept needs the file to write; give --fix FILE")
    corpus = documents[0] if len(documents) == 1 else list(documents)
    reading = {
        "format": flags["format"],
        "fields": fields or None,
        "limit": flags["limit"],
        "skip_bad_rows": flags["skip_bad_rows"],
    }
    if flags["judge"] is not None and not documents:
        raise click.UsageError("--judge reads passages of the documents; give --documents")
    language = choose_language(flags["language"])
    with _open_set(file, flags["store"], stored=flags["stored"]) as path:
        checkup = _check(path, corpus or None, flags, reading)
        if flags["fix"] is not None:
            return _fix_file(checkup, Path(flags["fix"]), flags["accept"], language, reading)
    checkup = replace(checkup, source=file)
    _show_report(checkup, language, output, as_json=flags["as_json"])
    if checkup.faults:
        return 1
    return 3 if checkup.reading is not None and checkup.reading.failed else 0


@command.command("export")
@click.argument("name")
@click.argument("file", required=False)
@store_option
def export(name: str, file: str | None, store: str | None) -> None:
    """Write a test set of the store to FILE (jsonl), to be evaluated; without FILE print it."""
    text = _read_stored(name, store)
    if file is None:
        click.echo(text, nl=False)
        return
    with open_replacement(Path(file)) as stream:
        stream.write(text)


@contextmanager
def _open_set(file: str, store: str | None, *, stored: bool) -> Iterator[str]:
    """The file of a test set; of one in the store a copy as long as it is read."""
    if not stored:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="ragstone-testset-") as folder:
        path = Path(folder) / "testset.jsonl"
        path.write_text(_read_stored(file, store), encoding="utf-8")
        yield str(path)


def _read_stored(name: str, place: str | None) -> str:
    with closing(Store.open(place, must_exist=True)) as store:
        items = load_items(store, name)
        known = [info.name for info in list_testsets(store)]
    if not items:
        raise DataError(f"the store has no test set {name!r}{suggest_nearest(name, known)}")
    return write_rows(items)


@command.command("card")
@click.argument("file")
@click.option("--labels", multiple=True, metavar="FILE", help="Labels of the viewer or of another tool on runs of this set. May be repeated.")  # fmt: skip
@output_option("testset", "text here")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the card: en, es.")
def card(file: str, labels: tuple[str, ...], output: tuple[str, ...], **flags: Any) -> int:
    """Show where the items of a generated set come from, how they were proved, who read them, and what it is weak at.

    FILE is a set that `ragstone generate` wrote; decisions of a review beside it are taken into account."""
    if unknown := _list_unknown_endings(output):
        raise ConfigError(unknown)
    labelled = {
        label.sample
        for path in labels
        for label in read_labels(path).labels
        if not label.is_withdrawn and not label.is_skip
    }
    card = build_card(Path(file), labelled)
    _show_report(card, choose_language(flags["language"]), output, as_json=flags["as_json"])
    return 0


@command.command("compare")
@click.argument("old")
@click.argument("new")
@output_option("testset", "text here")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
def compare(old: str, new: str, output: tuple[str, ...], **flags: Any) -> int:
    """Say which items of two versions of a generated set are the same, changed, new or gone."""
    if unknown := _list_unknown_endings(output):
        raise ConfigError(unknown)
    difference = compare_versions(Path(old), Path(new))
    names = (Path(old).name, Path(new).name)
    language = choose_language(flags["language"])
    _show_report(difference, language, output, as_json=flags["as_json"], names=names)
    return 0


def _check(
    file: str, corpus: str | list[str] | None, flags: Mapping[str, Any], reading: Mapping[str, Any]
) -> Checkup:
    """Check the set, with a bar where a judge reads."""
    if flags["judge"] is None:
        return check_testset(file, corpus, **reading)
    limits = {name: flags[name] for name in ("store", "concurrency", "max_usd", "max_calls")}
    with Bar() as bar:
        bar.title = "reading passages"
        judge = ReadingJudge(flags["judge"], watch=bar, **limits)
        return check_testset(file, corpus, reading=judge, **reading)


def _list_unknown_endings(output: Sequence[str]) -> list[str]:
    return [
        describe_unknown("testset", path)
        for path in output
        if Path(path).suffix.lower() not in list_endings("testset")
    ]


def _show_report(
    result: Checkup | DatasetCard | VersionDifference,
    language: str,
    output: Sequence[str],
    *,
    as_json: bool,
    **options: Any,
) -> None:
    """Print a result, or write it to the files."""
    if as_json:
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2))
    elif not output:
        report.show(result, language=language, **options)
    for path in output:
        report.write(result, path, language=language, **options)
        note("wrote {path}", path=path)


def _fix_file(
    checkup: Checkup, out: Path, accept: str | None, language: str, reading: Mapping[str, Any]
) -> int:
    """Write the set with the accepted fixes; exit code 1 when findings are left."""
    if out.resolve() == Path(checkup.source).resolve():
        raise click.UsageError(f"{str(out)!r} is the set itself; name another file")
    say = load_translator(language)
    fixable = [fault for fault in checkup.faults if fault.fix is not None]
    accepted = _accept_kinds(fixable, accept) if accept is not None else _ask_fixes(fixable, say)
    written, dropped = fix_testset(checkup, accepted, out, **reading)
    counts = {"n": say.whole(written), "dropped": say.whole(dropped), "file": str(out)}
    changed = len({fault.id for fault in accepted}) - dropped
    note(say("checkup.fix.wrote", changed=say.whole(changed), **counts))
    left = len(checkup.faults) - len(accepted)
    if left:
        note(say("checkup.fix.left", n=say.whole(left)))
    return 1 if left else 0


def _accept_kinds(fixable: Sequence[Fault], accept: str) -> list[Fault]:
    kinds = {kind.strip() for kind in accept.split(",") if kind.strip()}
    unknown = kinds - set(FAULTS) - {"all"}
    if unknown:
        raise click.UsageError(
            f"no kind of finding {sorted(unknown)[0]!r}; choose among all, {', '.join(FAULTS)}"
        )
    return [fault for fault in fixable if "all" in kinds or fault.kind in kinds]


def is_asking() -> bool:
    """Whether somebody sits at the terminal who can be asked."""
    return sys.stdin.isatty()


def _ask_fixes(fixable: Sequence[Fault], say: Translator) -> list[Fault]:
    """Show each finding with its proof and fix, and ask whether to apply it."""
    if fixable and not is_asking():
        raise click.UsageError("nobody can be asked here; name the kinds to fix with --accept")
    accepted: list[Fault] = []
    always: set[str] = set()
    for number, fault in enumerate(fixable, 1):
        assert fault.fix is not None
        if fault.kind in always:
            accepted.append(fault)
            continue
        click.echo(f"\n{number}/{len(fixable)}  {fault.id}  {say(f'checkup.fault.{fault.kind}')}")
        click.echo(f"  {shorten(fault.text, TEXT_CHARS)}")
        if fault.detail:
            click.echo(f"  {shorten(fault.detail, TEXT_CHARS)}")
        click.echo(f"  → {fault.fix.describe(say('checkup.fix.drop'))}")
        choice = click.prompt(say("checkup.fix.ask"), type=click.Choice(list("ynaq")), default="n")
        if choice == "q":
            break
        if choice == "a":
            always.add(fault.kind)
        if choice in "ya":
            accepted.append(fault)
    return accepted
