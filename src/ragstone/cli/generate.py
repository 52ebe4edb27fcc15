"""Options of `ragstone generate`: make a test set from documents."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import judge_options, store_option


@click.command("generate", short_help="Make a test set from documents.")
@click.argument("documents", nargs=-1, metavar="DOCS")
@click.option("-o", "--output", metavar="FILE", help="The file to write: .jsonl .json .csv .parquet, or a folder for beir [default: jsonl on standard output].")  # fmt: skip
@click.option("-n", "count", type=click.IntRange(min=1), metavar="N", help="How many items [default: 100, or fewer when the documents do not bear as many].")  # fmt: skip
@click.option("--kinds", metavar="KIND=WEIGHT,…", help="Which kinds in which proportion: factual=3,how_to=1,near_miss=1.")  # fmt: skip
@click.option("--lang", "languages", metavar="LANG,…", help="Only documents in these languages: en,es.")  # fmt: skip
@judge_options("Who writes and answers the questions: openai:MODEL, … [default: rules, without any LLM].")  # fmt: skip
@click.option("--style", "styles", multiple=True, metavar="TEXT", help="A style to write in: formal, informal or terse by rule, anything with --judge ('a worried parent'). May be repeated.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="The same seed gives the same test set.")  # fmt: skip
@click.option("--format", "format", default="ragstone", show_default=True, metavar="FORMAT", help="ragstone, ragas, deepeval, query, questions or beir.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Resume the unfinished test set beside FILE; DOCS may be left out.")  # fmt: skip
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

    DOCS are folders or files: txt, md, rst, html, ipynb, pdf and docx (extras), jsonl of {id, text}, or a BEIR folder.

    \b
      ragstone generate manuals/ -o testset.jsonl -n 200
      ragstone generate manuals/ -o testset.jsonl --judge openai:gpt-4o-mini --max-usd 2
      ragstone generate --review testset.jsonl

    Exit codes: 0 all well, 2 bad input, 3 too few items made."""
    from ragstone.cli.actions.generate import generate_testset

    return generate_testset(documents, flags)
