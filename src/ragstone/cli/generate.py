"""`ragstone generate`: documents in, a proved test set out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.actions.messages import note
from ragstone.cli.options import store_option

if TYPE_CHECKING:
    from ragstone.testset.sets import Request, TestSet


@click.command("generate", short_help="Make a test set from documents.")
@click.argument("documents", nargs=-1, metavar="DOCS")
@click.option("-o", "--output", metavar="FILE", help="The file to write: .jsonl .json .csv .parquet, or a folder for beir [default: jsonl on standard output].")  # fmt: skip
@click.option("-n", "count", type=click.IntRange(min=1), metavar="N", help="How many items [default: 100, or fewer when the documents do not bear as many].")  # fmt: skip
@click.option("--kinds", metavar="KIND=WEIGHT,…", help="Which kinds in which proportion: factual=3,multi_document=1,unanswerable=1.")  # fmt: skip
@click.option("--lang", "languages", metavar="LANG,…", help="Only documents in these languages: en,es.")  # fmt: skip
@click.option("--judge", metavar="JUDGE", help="Who writes and answers the questions: openai:MODEL, … [default: rules, without any LLM].")  # fmt: skip
@click.option("--style", "styles", multiple=True, metavar="TEXT", help="A style to write in: formal, informal or terse by rule, anything with --judge ('a worried parent'). May be repeated.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="The same seed gives the same test set.")  # fmt: skip
@click.option("--format", "format", default="ragstone", show_default=True, metavar="FORMAT", help="ragstone, ragas, deepeval, query, questions or beir.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the unfinished test set of the same plan beside FILE.")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Questions to the judge in flight at once.")  # fmt: skip
@click.option("--floor", type=click.FloatRange(0, 1), default=0.9, show_default=True, metavar="SHARE", help="Exit 3 when fewer than this share of -n N was made.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it would cost; write nothing.")  # fmt: skip
@click.option("--review", is_flag=True, help="Look through the items of FILE (or of DOCS, a test set) one by one: accept, edit, reject.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")
@store_option
def command(documents: tuple[str, ...], **flags: Any) -> int:
    """Make a test set from documents, with or without an LLM.

    DOCS are folders or files: txt, md, html, pdf and docx (extras), jsonl of {id, text}, or a BEIR folder.

    \b
      ragstone generate manuals/ -o testset.jsonl -n 200
      ragstone generate manuals/ -o testset.jsonl --judge openai:gpt-4o-mini --max-usd 2
      ragstone generate --review testset.jsonl

    Exit codes: 0 all well, 2 bad input, 3 too few items made."""
    if not documents:
        raise click.UsageError("no documents; name a folder or files")
    if flags["review"] and flags["output"] is None:
        return _review(documents)
    request = _request(documents, flags)
    if flags["dry_run"]:
        from ragstone.cli.actions.generate_dry_run import show

        show(request)
        return 0
    made = _made(request, quiet=flags["quiet"])
    _say(made, request, quiet=flags["quiet"])
    if flags["review"] and made.out is not None:
        _review((str(made.out),))
    enough = max(1, flags["floor"] * (flags["count"] or 0))
    return 0 if len(made.items) >= enough else 3


def _request(documents: tuple[str, ...], flags: dict[str, Any]) -> Request:
    from ragstone.testset.sets import Request

    languages = [one.strip() for one in (flags["languages"] or "").split(",") if one.strip()]
    if flags["resume"] and flags["output"] is None:
        raise click.UsageError("--resume needs the file of the unfinished test set; give -o FILE")
    return Request(
        documents[0] if len(documents) == 1 else list(documents),
        flags["count"],
        flags["kinds"],
        languages,
        flags["judge"],
        flags["seed"],
        flags["styles"],
        flags["output"],
        flags["format"],
        flags["resume"],
        flags["store"],
        flags["concurrency"],
        flags["max_usd"],
        flags["max_calls"],
    )


def _made(request: Request, *, quiet: bool) -> TestSet:
    from dataclasses import replace

    from ragstone.cli.actions.progress import Bar
    from ragstone.errors import Interrupted
    from ragstone.testset.sets import finished, part_file

    with Bar(quiet=quiet) as bar:
        bar.what, bar.failed = "writing questions", "rejected"
        try:
            return finished(replace(request, watch=bar))
        except KeyboardInterrupt:
            if request.out is None:
                raise
            part = part_file(Path(request.out))
            raise Interrupted(
                f"stopped; what was made is kept in {part}, go on with --resume"
            ) from None


def _say(made: TestSet, request: Request, *, quiet: bool) -> None:
    from ragstone.testset.account import text

    if request.out is None:
        import json

        for row in made.rows():
            click.echo(json.dumps(row, ensure_ascii=False))
    note(text(made), quiet=quiet and bool(made.items))
    if made.out is not None:
        note(f"\nwrote {made.out}", quiet=quiet)
    elif request.out is not None:
        note(f"\nnothing was made: {request.out} is not written")
    if made.rejected and made.rejected_in is not None:
        note(f"the rejected ones are in {made.rejected_in}", quiet=quiet)
    if made.planted_in is not None:
        note(
            f"the documents with a hidden instruction are in {made.planted_in}"
            + (" and in the corpus" if request.format == "beir" else ": add them to your corpus"),
            quiet=quiet,
        )
    if made.stopped and request.out is not None:
        note("go on with the same command and --resume", quiet=quiet)


def _review(files: tuple[str, ...]) -> int:
    from ragstone.cli.review import review

    if len(files) != 1:
        raise click.UsageError("one test set at a time; give --review FILE")
    return review(Path(files[0]))
