"""Rewrites the parts of the docs that come from the code: metrics, formats, config keys, help texts, public names.

    python docs/generate.py              rewrite what is stale
    python docs/generate.py --check      say what is stale, exit 1
    python docs/generate.py --picture    take the pictures of the report anew (needs playwright and a Chromium)

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything else in a page is written by hand."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PART = re.compile(
    r"(?P<head><!-- generated: (?P<name>[\w:-]+) -->\n).*?(?P<foot><!-- end -->)", re.DOTALL
)


def pages() -> list[Path]:
    """Every page that may hold generated parts."""
    return sorted([*ROOT.glob("README*.md"), *DOCS.rglob("*.md")])


def renewed(page: Path) -> str:
    """The page's text with its generated parts as the code has them now."""

    def part(match: re.Match[str]) -> str:
        name, _, language = match["name"].partition(":")
        if name not in PARTS:
            raise SystemExit(f"{page}: no part {name!r}; known: {', '.join(PARTS)}")
        return f"{match['head']}\n{PARTS[name](language or 'en').strip()}\n\n{match['foot']}"

    return PART.sub(part, page.read_text(encoding="utf-8"))


def stale() -> list[Path]:
    """Pages whose generated parts differ from the code."""
    return [page for page in pages() if renewed(page) != page.read_text(encoding="utf-8")]


# ── metrics ───────────────────────────────────────────────────────────────────────────────

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "head": "metric | needs | better | meaning",
        "higher": "higher",
        "lower": "lower",
        "Ranking": "Ranking: retrieved ids against the relevant ones",
        "Text": "Text: the answer against the reference",
        "Tools": "Tools: the calls of an agent against the expected ones",
        "System": "What the system took",
        "Judged": "With a judge",
        "extra": "Needs the extra `{}`.",
        "options": "Options: ",
    },
    "es": {
        "head": "métrica | necesita | mejor | significado",
        "higher": "mayor",
        "lower": "menor",
        "Ranking": "Recuperación: identificadores recuperados frente a los relevantes",
        "Text": "Texto: la respuesta frente a la referencia",
        "Tools": "Herramientas: las llamadas de un agente frente a las previstas",
        "System": "Lo que costó al sistema",
        "Judged": "Con juez",
        "extra": "Requiere el extra `{}`.",
        "options": "Opciones: ",
    },
}


def metrics(language: str) -> str:
    """Every registered metric in tables by kind."""
    say = WORDS[language]
    groups: dict[str, list[Any]] = {
        name: [] for name in ("Ranking", "Text", "Tools", "System", "Judged")
    }
    for metric in _ours():
        groups[_group(metric)].append(metric)
    parts = []
    for name, found in groups.items():
        rows = [_metric_row(metric, language) for metric in found]
        parts += [f"## {say[name]}", "", table(say["head"], rows), ""]
    return "\n".join(parts)


ORDER = ("retrieval", "text", "system", "grounding", "answer", "citations", "context", "rubric")
"""Modules of metrics as the tables show them; others come last."""


def _ours() -> list[Any]:
    """The metrics of the package, without those that a user's page has registered."""
    from ragstone.metrics import REGISTERED

    found = [
        (metric.function.__module__.removeprefix("ragstone.metrics."), metric)
        for metric in REGISTERED.values()
        if metric.function.__module__.startswith("ragstone.")
    ]
    place = {module: at for at, module in enumerate(ORDER)}
    return [metric for module, metric in sorted(found, key=lambda one: place.get(one[0], 99))]


def _group(metric: Any) -> str:
    if metric.judged:
        return "Judged"
    home = metric.function.__module__.rpartition(".")[2]
    return {"retrieval": "Ranking", "system": "System", "steps": "Tools"}.get(home, "Text")


def _metric_row(metric: Any, language: str) -> list[str]:
    from ragstone.registry import describe_options

    say = WORDS[language]
    name = f"`{metric.name}`" + (f", `{metric.name}@k`" if "k" in metric.options else "")
    better = say["higher" if metric.higher_is_better else "lower"]
    options = [
        f"`{option}={_option(metric.options[option])}`"
        + (f" ({words})" if _choice(words) and language == "en" else "")
        for option, words in describe_options(metric).items()
        if option != "k"
    ]
    meaning = meaning_of(metric, language)
    if options:
        meaning += f" {say['options']}{', '.join(options)}."
    if metric.extra:
        meaning += " " + say["extra"].format(metric.extra)
    return [name, ", ".join(metric.needs) or "–", better, meaning]


def meaning_of(metric: Any, language: str) -> str:
    """What a metric means, in the words of its docstring or of its translation."""
    if language == "en":
        return str(metric.meaning)
    from ragstone.locale.catalogue import load_meanings

    return load_meanings(language)[metric.family]


def _choice(words: str) -> bool:
    return " or " in words and "a list" not in words


def _option(value: Any) -> str:
    if isinstance(value, dict):
        return "…"
    if isinstance(value, tuple | list):
        return "[…]"
    text = str(value)
    return text if len(text) <= 20 else "…"


def readme_metrics(language: str) -> str:
    """One row a kind of metric, for the README."""
    groups: dict[str, list[str]] = {"Ranking": [], "Text": [], "Judged": [], "System": []}
    for metric in _ours():
        cut = "@k" if "k" in metric.options else ""
        group = _group(metric)
        groups["System" if group == "Tools" else group].append(f"`{metric.name}{cut}`")
    heads = {
        "en": ("kind | metrics", "ranking", "text", "with a judge", "the system's own"),
        "es": ("tipo | métricas", "recuperación", "texto", "con juez", "del propio sistema"),
    }[language]
    rows = [
        [name, ", ".join(found)] for name, found in zip(heads[1:], groups.values(), strict=True)
    ]
    return table(heads[0], rows)


# ── data ──────────────────────────────────────────────────────────────────────────────────


def formats(language: str) -> str:
    """Every format of rows: how it is known and which column each field comes from."""
    from ragstone.data import FORMATS

    head = {
        "en": "`--format` | known by the columns | fields and their columns",
        "es": "`--format` | se reconoce por las columnas | campos y sus columnas",
    }[language]
    rows = []
    for known in FORMATS.values():
        marks = "<br>".join(_listed(sorted(mark)) for mark in _least(known.signatures))
        fields = "<br>".join(
            f"{field}: {_shortened(columns)}"
            for field, columns in known.fields.items()
            if field not in ("id", "meta", "error", "language")
        )
        rows.append([f"`{known.name}`", marks, fields])
    return table(head, rows)


def _least(marks: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Marks that no smaller mark makes needless."""
    every = list(marks)
    return [mark for mark in every if not any(other < mark for other in every)]


def _shortened(columns: tuple[str, ...]) -> str:
    return _listed(columns[:3]) + (" …" if len(columns) > 3 else "")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# ── config ────────────────────────────────────────────────────────────────────────────────

KEYS = {
    "data": "A path, or a mapping with the keys below.",
    "metrics": "What to measure: names, or `name: {option: value}`; a list, or one text with commas. "
    "Left out: those that fit the data.",
}
"""What the schema's own docstrings leave unsaid."""


def config(language: str) -> str:
    """Every key of a config file."""
    from ragstone.config.plan import Plan

    return _keys(Plan)


def config_data(language: str) -> str:
    """Every key of `data:`."""
    from ragstone.config.plan import Data

    return _keys(Data)


def _keys(schema: type) -> str:
    import dataclasses

    from ragstone.config.plan import NO_KEYS

    said = {**field_docs(schema), **KEYS}
    rows = []
    for item in dataclasses.fields(schema):
        if item.name in NO_KEYS:
            continue
        if item.name not in said:
            raise SystemExit(f"nothing is said about the key {item.name!r} of {schema.__name__}")
        given = item.default
        shown = f"`{str(given).lower() if isinstance(given, bool) else given}`"
        plain = given in (None, (), dataclasses.MISSING) or dataclasses.is_dataclass(given)
        rows.append([f"`{item.name}`", "–" if plain else shown, said[item.name]])
    return table("key | default | meaning", rows)


def field_docs(schema: type) -> dict[str, str]:
    """The docstring under each field of a class."""
    (body,) = ast.parse(inspect.getsource(schema)).body
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for before, here in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(here, ast.Expr)
            and isinstance(here.value, ast.Constant)
        ):
            found[before.target.id] = " ".join(str(here.value.value).split())
    return found


SETTINGS = {
    "model": "`offline`, `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`, `gguf:PATH`, `hf:PATH`, `nli:PATH` or `python:module:function`.",
    "jury": "Instead of `model`: a list of judges that vote.",
    "first": "Instead of `model`: the cheap judge of a [cascade](#a-cascade).",
    "then": "The strong judge of a cascade.",
    "unsure": "Probabilities at which the first judge is unsure, `0.2..0.8`, or `measured`. Default: what was measured, else `0.2..0.8`.",
    "agree": "Instead of `unsure`: the share of verdicts that should match the second judge, `0.95`.",
    "check": "Share of confident verdicts that the second judge checks at random (default 0.05).",
    "base_url": "Address of a server with the same API: `http://localhost:11434/v1`.",
    "name": 'In Python, the model behind a client: `{"model": OpenAI(), "name": "gpt-4o-mini"}`.',
    "identity": "A name for the cache instead of URL and model, so that a server can move: `qwen-7b-q4`.",
    "api_key": "`${NAME}`: the key, from the environment. Never write it out.",
    "key_env": "The environment variable that holds the key.",
    "small": "`true` for a [small model](#small-models); the default for `gguf:` and `hf:`.",
    "temperature": "Passed to the model.",
    "top_p": "Passed to the model.",
    "seed": "Passed to the model; also draws the checks of a cascade.",
    "max_tokens": "Longest reply.",
    "parameters": "Other parameters of the API.",
    "prices": "`{input: USD, output: USD}` per million tokens, for models without a known price.",
    "concurrency": "Calls in flight (default 16; fewer after a 429).",
    "max_retries": "Retries after a transport fault, 408, 409, 429 or 5xx (default 5).",
    "timeout": "Seconds per call (default 120).",
    "deadline": "Seconds per question, retries included (default 300, in this process 600).",
    "run_deadline": "Seconds for the whole run.",
    "max_usd": "Budget in USD, checked before each call.",
    "max_calls": "Budget in calls, checked before each call.",
    "rate": "Calls per second, over all workers.",
    "embeddings": "What embeds texts: `offline` (default), `openai:NAME` or `hf:PATH`.",
    "language": "Language of the prompts, for samples that name none.",
    "prompts": "A folder with [prompts](#prompts) of your own.",
    "batch": "`openai:`, `anthropic:` `true` for [batch jobs](#batch-jobs); `hf:`, `nli:` questions per batch (default 8 and 16).",
    "device": "`gguf:`, `hf:`, `nli:` `cpu`, `cuda`, … (default: the GPU if there is one).",
    "threads": "`gguf:`, `hf:`, `nli:` processors (default: all).",
    "context": "`gguf:` tokens of question and reply (default 4096); `nli:` tokens of a window.",
    "labels": "`nli:` the classes in order, if the model's config does not name them: `[entailment, neutral, contradiction]`.",
    "allow_unmeasured": "Let the embedded judge score languages other than English and Spanish.",
    "calibration": "`false` ignores what `ragstone judge fit` fitted.",
}


def settings(language: str) -> str:
    """Every setting of a judge; a new one must be described here."""
    from ragstone.judges.factory import SETTINGS as KNOWN

    if set(KNOWN) != set(SETTINGS):
        raise SystemExit(f"describe these settings of a judge: {set(KNOWN) ^ set(SETTINGS)}")
    return table("setting | meaning", [[f"`{name}`", SETTINGS[name]] for name in KNOWN])


def keys_of_hosts(language: str) -> str:
    """Which environment variable holds the key of which host."""
    from ragstone.judges.dialects import collect_key_variables

    head = {"en": "host | environment variable", "es": "servidor | variable de entorno"}[language]
    return table(
        head, [[f"`{host}`", _listed(names)] for host, names in collect_key_variables().items()]
    )


# ── command line and Python ───────────────────────────────────────────────────────────────


def cli(language: str) -> str:
    """The help text of every command, without the two options that nearly all of them have."""
    import click

    from ragstone.cli import ragstone
    from ragstone.cli.options import store_option

    shared = vars(store_option(lambda: None))["__click_params__"][0].help

    top = click.Context(
        ragstone,
        info_name="ragstone",
        terminal_width=96,
        max_content_width=96,
        help_option_names=["-h", "--help"],
    )
    parts = []
    for context in _contexts(top):
        level = "##" if context.parent in (None, top) else "###"
        context.command.add_help_option = False
        context.command.params = [
            option for option in context.command.params if getattr(option, "help", "") != shared
        ]
        help_text = context.command.get_help(context)
        parts += [f"{level} {context.command_path}", "", "```text", help_text, "```", ""]
    return "\n".join(parts)


def _contexts(context: Any) -> Iterator[Any]:
    """The context of a command and of all commands below it."""
    import click

    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None
            yield from _contexts(
                click.Context(command, parent=context, info_name=name, terminal_width=96)
            )


def names(language: str) -> str:
    """The public names with their first sentence."""
    import ragstone

    rows = []
    for name in ragstone.__all__:
        thing = getattr(ragstone, name)
        text = "The version." if name == "__version__" else inspect.getdoc(thing) or ""
        rows.append([f"`{name}`", " ".join(text.split("\n\n")[0].split())])
    return table("name | what it is", rows)


def aliases(tool: str) -> Callable[[str], str]:
    """The metric names of another tool beside ours."""

    def build(language: str) -> str:
        from ragstone.registry.aliases import list_aliases

        rows = [[f"`{alias.name}`", f"`{alias.spec}`"] for alias in list_aliases(tool)]
        return table(f"{tool} | ragstone", rows)

    return build


def promises(language: str) -> str:
    """What each file of tests/promises says first."""
    rows = []
    for path in sorted((ROOT / "tests" / "promises").glob("test_[0-9][0-9]_*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        rows.append([path.name[5:7], text.split("\n\n")[0].replace("\n", " ")])
    return table("test file | promise", rows)


def table(head: str, rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {head} |", f"|{' --- |' * (head.count('|') + 1)}"]
    lines += [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(lines)


PARTS: dict[str, Callable[[str], str]] = {
    "aliases-deepeval": aliases("DeepEval"),
    "aliases-promptfoo": aliases("promptfoo"),
    "aliases-ragas": aliases("Ragas"),
    "aliases-trulens": aliases("TruLens"),
    "cli": cli,
    "config": config,
    "config-data": config_data,
    "formats": formats,
    "judge-keys": keys_of_hosts,
    "judge-settings": settings,
    "metrics": metrics,
    "names": names,
    "promises": promises,
    "readme-metrics": readme_metrics,
}


# ── the picture ───────────────────────────────────────────────────────────────────────────


def picture(target: Path, language: str) -> None:
    """The top of the demo's report, as a browser shows it."""
    import shutil
    import subprocess
    import tempfile

    from playwright.sync_api import sync_playwright

    browser = next(
        (
            found
            for name in ("chromium-headless-shell", "chromium")
            if (found := shutil.which(name))
        ),
        None,
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        report = Path(folder) / "report.html"
        command = [sys.executable, "-m", "ragstone", "demo", "-o", str(report), "--lang", language]
        subprocess.run([*command, "--store", f"{folder}/demo.db"], check=True, capture_output=True)
        window = play.chromium.launch(executable_path=browser)
        page = window.new_page(viewport={"width": 1100, "height": 820})
        page.goto(report.as_uri())
        page.screenshot(path=target)
        window.close()
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1000:.0f} KB")


def main() -> int:
    if "--picture" in sys.argv:
        picture(DOCS / "images" / "report.png", "en")
        picture(DOCS / "es" / "images" / "report.png", "es")
        return 0
    old = stale()
    for page in old:
        if "--check" in sys.argv:
            print(f"{page.relative_to(ROOT)} is stale; run: python docs/generate.py")
        else:
            page.write_text(renewed(page), encoding="utf-8")
            print(f"rewrote {page.relative_to(ROOT)}")
    return 1 if old and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
