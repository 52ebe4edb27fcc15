"""`ragstone testset`: audit a test set, show its card, compare two versions of one."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ragstone import report
from ragstone.cli.actions.flags import parse_fields
from ragstone.cli.actions.messages import note
from ragstone.cli.actions.progress import Bar
from ragstone.cli.actions.shared import choose_language
from ragstone.errors import ConfigError
from ragstone.labels.reader import read_labels
from ragstone.report.figures import shorten
from ragstone.report.formats import describe_unknown, list_endings
from ragstone.report.pages.checkup import TEXT_CHARS
from ragstone.report.translator import Translator, load_translator
from ragstone.testset.card import SetCard, build_card
from ragstone.testset.checkup import Checkup, check_testset, fix_testset
from ragstone.testset.doubt_reader import ReadingJudge
from ragstone.testset.findings import FAULTS, Fault
from ragstone.testset.versions import VersionDifference, compare_versions


def check_file(
    file: str, documents: Sequence[str], output: Sequence[str], flags: Mapping[str, Any]
) -> int:
    """Audit a test set, show or write the report; the exit code is 1 when an item needs attention.

    `flags` are the options that cli/testset.py declares, by parameter name."""
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
    checkup = _check(file, corpus or None, flags, reading)
    language = choose_language(flags["language"])
    if flags["fix"] is not None:
        return _fix_file(checkup, Path(flags["fix"]), flags["accept"], language, reading)
    _show_report(checkup, language, output, as_json=flags["as_json"])
    if checkup.faults:
        return 1
    return 3 if checkup.reading is not None and checkup.reading.failed else 0


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


def show_card(
    file: str, labels: Sequence[str], output: Sequence[str], flags: Mapping[str, Any]
) -> int:
    """Show or write the card of a set; `labels` are files of labels on runs of it."""
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


def show_versions(old: str, new: str, output: Sequence[str], flags: Mapping[str, Any]) -> int:
    """Show or write what differs between two versions of a set."""
    if unknown := _list_unknown_endings(output):
        raise ConfigError(unknown)
    difference = compare_versions(Path(old), Path(new))
    names = (Path(old).name, Path(new).name)
    language = choose_language(flags["language"])
    _show_report(difference, language, output, as_json=flags["as_json"], names=names)
    return 0


def _list_unknown_endings(output: Sequence[str]) -> list[str]:
    return [
        describe_unknown("testset", path)
        for path in output
        if Path(path).suffix.lower() not in list_endings("testset")
    ]


def _show_report(
    result: Checkup | SetCard | VersionDifference,
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
