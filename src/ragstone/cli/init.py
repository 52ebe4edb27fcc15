"""Options of `ragstone init`: write the first config of a project."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ragstone.cli.messages import note
from ragstone.cli.options import reading_options
from ragstone.cli.shared import check_language, choose_language, open_data
from ragstone.errors import NothingToScore, RagstoneError
from ragstone.experiments.choose import default_metrics, first_samples
from ragstone.locale.catalogue import load_meanings
from ragstone.metrics import REGISTERED
from ragstone.registry import Metric
from ragstone.report.translator import Translator, load_translator
from ragstone.types import Sample


@click.command("init")
@click.argument("data", required=False)
@click.option(
    "--ci",
    type=click.Choice(["github", "gitlab", "none"]),
    help="Which CI job to write [default: gitlab beside a .gitlab-ci.yml, else github].",
)
@click.option(
    "--judge", metavar="JUDGE", help="Who answers judged metrics: offline, openai:MODEL, …"
)
@click.option(
    "--lang",
    "language",
    metavar="LANG",
    help="Language of the comments, of samples that name none and of reports: en, es.",
)
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@reading_options
def command(
    data: str | None,
    ci: str | None,
    judge: str | None,
    language: str | None,
    force: bool,
    **data_flags: object,
) -> None:
    """Write a config, a CI job and a .gitignore line for the data at hand.

    DATA is a data file as `ragstone eval` takes it; without it, the only one in this folder. The config names the metrics
    that the data allow and leaves the gates open. Files that are there already stay, and are named, unless --force is given.

    \b
      ragstone init answers.jsonl
      ragstone eval -c ragstone.yaml"""
    say = load_translator(choose_language(check_language(language)))
    path = data or _find_data()
    starter = _read_starter(path, judge, language, data_flags, say)
    service = ci or ("gitlab" if Path(".gitlab-ci.yml").is_file() else "github")
    files = {Path(CONFIG_NAME): starter.write_config()}
    if service != "none":
        files[Path(CI_FILES[service])] = _write_job(service, say)
    present = [str(file) for file in files if file.exists()]
    if present and not force:
        names = " and ".join(map(repr, present))
        raise RagstoneError(f"not replaced without --force: {names}")
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        note("wrote {path}", path=file)
    if _ignore_folder():
        note("wrote .gitignore: {folder}/", folder=RUNS_FOLDER)
    if service == "gitlab":
        note("include it in .gitlab-ci.yml: include: [{{local: {path}}}]", path=CI_FILES[service])
    click.echo(f"ragstone eval -c {CONFIG_NAME}")


CONFIG_NAME = "ragstone.yaml"

RUNS_FOLDER = ".ragstone"

CI_FILES = {
    "github": ".github/workflows/ragstone.yml",
    "gitlab": ".gitlab/ragstone.yml",
}

DATA_ENDINGS = (".jsonl", ".csv", ".parquet", ".json")

SHOWN_FIELDS = ("question", "answer", "contexts", "reference", "relevant", "language", "group")

ADVISED_METRICS = ("faithfulness", "recall", "answer_correctness")
"""Metrics that the config mentions where the data does not allow them yet."""

COMMENT_COLUMNS = 96


def _find_data() -> str:
    """The only data file of this folder."""
    files = sorted(p.name for p in Path().iterdir() if p.suffix in DATA_ENDINGS and p.is_file())
    if len(files) == 1:
        return files[0]
    seen = (
        f"{len(files)} data files here ({', '.join(files[:5])})" if files else "no data file here"
    )
    raise RagstoneError(f"{seen}; name yours: ragstone init FILE")


@dataclass(frozen=True)
class ConfigStarter:
    """What is known of the data when its config is written."""

    path: str
    format: str
    fields: tuple[str, ...]
    """Fields that some of the first samples have."""
    data_flags: Mapping[str, Any]
    """The flags of `reading_options`: format, fields, limit, skip_bad_rows."""
    metrics: Sequence[Metric]
    obstacle: str
    """Why no metric fits; empty when one does."""
    judge: str
    language: str | None
    say: Translator

    def write_config(self) -> str:
        """The config as text."""
        parts = (
            self._write_head(), self._write_data(), self._write_metrics(), self._write_judge(),
            self._write_gates(), self._write_files(),
        )  # fmt: skip
        return "\n\n".join("\n".join(part) for part in parts) + "\n"

    def _write_head(self) -> Iterator[str]:
        yield from _comment(self.say("starter_head", config=CONFIG_NAME))
        yield from _comment(self.say("starter_made"))
        yield ""
        yield f"name: {_quote(Path(self.path).stem)}"
        if self.language:
            yield f"language: {self.language}"

    def _write_data(self) -> Iterator[str]:
        fields = ", ".join(self.fields)
        yield from _comment(self.say("starter_data", format=self.format, fields=fields))
        yield "data:"
        yield f"  path: {_quote(self.path)}"
        if self.data_flags["format"]:
            yield f"  format: {self.data_flags['format']}"
        if self.data_flags["skip_bad_rows"]:
            yield "  skip_bad_rows: true"
        if self.data_flags["fields"]:
            yield "  fields:"
            for text in self.data_flags["fields"]:
                name, _, column = text.partition("=")
                yield f"    {name.strip()}: {_quote(column.strip())}"
        else:
            yield from _comment(self.say("starter_fields"), "  ")
            yield "  # fields: {answer: output.text}"
        if "answer" not in self.fields:
            yield from _comment(self.say("starter_system"))
            yield "# system: my_app.py:answer"

    def _write_metrics(self) -> Iterator[str]:
        if self.metrics:
            yield from _comment(self.say("starter_metrics"))
            yield "metrics:"
        else:
            yield from _comment(self.say("starter_no_metrics", reason=self.obstacle))
        meanings = load_meanings(self.say.language)
        for metric in self.metrics:
            gist = meanings.get(metric.family, metric.meaning).partition(";")[0].rstrip(".")
            yield from _comment(gist, "  ")
            yield f"  - {metric.name}"
        chosen = {metric.family for metric in self.metrics}
        for name in ADVISED_METRICS:
            missing = [field for field in REGISTERED[name].needs if field not in self.fields]
            if name not in chosen and missing:
                text = self.say("starter_more", metric=name, fields=", ".join(missing))
                yield from _comment(text, "  ")

    def _write_judge(self) -> Iterator[str]:
        if not any(metric.judged for metric in self.metrics):
            yield from _comment(self.say("starter_no_judge"))
            return
        yield from _comment(self.say("starter_judge"))
        yield from _comment(self.say("starter_judge_other"))
        yield f"judge: {_quote(self.judge)}"

    def _write_gates(self) -> Iterator[str]:
        yield from _comment(self.say("starter_gates"))
        yield "# gates:"
        examples = (">= 0.8", "starter_gate_low"), ("mean >= 0.8", "starter_gate_mean")
        gated = [m for m in self.metrics if m.higher_is_better and m.bounds == (0.0, 1.0)]
        # advised metrics first, in their order; any other comes after them
        gated.sort(key=lambda m: (*ADVISED_METRICS, m.family).index(m.family))
        # not strict: at most one gate per example
        for metric, (rule, meaning) in zip(gated, examples, strict=False):
            yield f'#   {metric.name}: "{rule}"   # {self.say(meaning)}'

    def _write_files(self) -> Iterator[str]:
        yield from _comment(self.say("starter_store"))
        yield f"store: {RUNS_FOLDER}/runs.db"
        yield from _comment(self.say("starter_output"))
        yield f"output: [{RUNS_FOLDER}/report.html, {RUNS_FOLDER}/report.md]"


def _read_starter(
    path: str,
    judge: str | None,
    language: str | None,
    data_flags: Mapping[str, Any],
    say: Translator,
) -> ConfigStarter:
    dataset = open_data(path, **data_flags)
    samples = first_samples(dataset)
    obstacle, metrics = "", []
    try:
        metrics = default_metrics(samples, judge=judge, language=language)
    except NothingToScore as nothing:
        obstacle = say.message(nothing.message)
    return ConfigStarter(
        path=path,
        format=dataset.format,
        fields=tuple(name for name in SHOWN_FIELDS if _has_field(samples, name)),
        data_flags=data_flags,
        metrics=metrics,
        obstacle=obstacle,
        judge=judge or "offline",
        language=language,
        say=say,
    )


def _has_field(samples: Sequence[Sample], name: str) -> bool:
    return any(getattr(sample, name) is not None for sample in samples)


def _quote(text: str) -> str:
    """A text as YAML reads it back: bare where that is safe."""
    is_safe = re.fullmatch(r"[A-Za-z./][\w./-]*(:[\w./-]+)?", text)
    return text if is_safe else json.dumps(text, ensure_ascii=False)


def _comment(text: str, indent: str = "") -> Iterator[str]:
    for line in textwrap.wrap(text, COMMENT_COLUMNS - len(indent)):
        yield f"{indent}# {line}"


def _write_job(service: str, say: Translator) -> str:
    head = "\n".join(_comment(say("starter_ci")))
    source = "\n".join(
        _comment(say("starter_ci_source", command=GIT_COMMAND), SOURCE_INDENTS[service])
    )
    secret = "\n".join(_comment(say("starter_ci_judge"), "        "))
    job = _JOBS[service].replace("HEAD", head, 1)
    job = job.replace(f"{SOURCE_INDENTS[service]}# SOURCE", source, 1)
    return job.replace("        # SECRET", secret, 1)


GIT_COMMAND = 'pip install "ragstone @ git+https://HOST/OWNER/ragstone@REF"'

SOURCE_INDENTS = {"github": "      ", "gitlab": "    "}
"""Before the steps of a job."""

# `_write_job` replaces HEAD, the line # SOURCE and, where there is one, the line # SECRET.
_JOBS = {
    "github": f"""HEAD
name: ragstone
on: pull_request
permissions:
  contents: read
jobs:
  evaluate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{python-version: "3.12"}}
      # SOURCE
      - run: pip install ragstone
      - run: ragstone eval -c {CONFIG_NAME}
        # SECRET
        # env: {{OPENAI_API_KEY: "${{{{ secrets.OPENAI_API_KEY }}}}"}}
      - if: always()
        run: cat {RUNS_FOLDER}/report.md >> "$GITHUB_STEP_SUMMARY"
      - if: always()
        uses: actions/upload-artifact@v4
        with: {{name: ragstone-report, path: {RUNS_FOLDER}/report.html, include-hidden-files: true}}
""",
    "gitlab": f"""HEAD
ragstone:
  image: python:3.12
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    # SOURCE
    - pip install ragstone
    - ragstone eval -c {CONFIG_NAME} -o {RUNS_FOLDER}/report.html -o {RUNS_FOLDER}/junit.xml
  artifacts:
    when: always
    paths: [{RUNS_FOLDER}/report.html]
    reports: {{junit: {RUNS_FOLDER}/junit.xml}}
""",
}


def _ignore_folder() -> bool:
    """Add the folder of the runs to .gitignore; whether it had to be added."""
    file, line = Path(".gitignore"), f"{RUNS_FOLDER}/"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if line in text.splitlines():
        return False
    separator = "" if not text or text.endswith("\n") else "\n"
    file.write_text(f"{text}{separator}{line}\n", encoding="utf-8")
    return True
