"""Every example in the README files and the docs runs, in order, in a folder of its own, and prints what it says.

In a page: a block with a title is a file and is written; a `python` block is run; in a `console` block each line
after `$` is run and the lines below it are its output (`...` stands for anything). A `text` block right after a
`python` block is that block's output. `sh` blocks are for what cannot run here: installing, and judges that want a key."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import ragstone.data.formats as data_formats
import ragstone.report.formats as report_formats

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w+)?(?: +(?P<rest>[^\n]*))?\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def is_left_to_check(page: Path) -> bool:
    """Whether only `make check` and `make test-all` run its examples; `make test` runs those that everybody meets first."""
    return page != ROOT / "README.md"


@dataclass
class Block:
    kind: str
    title: str | None
    body: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        rest = match["rest"] or ""
        title = re.search(r'title="([^"]+)"', rest)
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        yield Block(
            match["kind"] or "text",
            title[1] if title else None,
            body,
            text[: match.start()].count("\n") + 1,
        )


def agree(wanted: str, got: str, where: str) -> None:
    checker = doctest.OutputChecker()
    example = doctest.Example("", wanted)
    if not checker.check_output(wanted, got, FLAGS):
        pytest.fail(f"{where}:\n{checker.output_difference(example, got, FLAGS)}")


def run_console(block: Block, folder: Path, where: str) -> None:
    for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
        command, _, wanted = part.partition("\n")
        words = shlex.split(command, comments=True)
        assert words[0] in ("ragstone", "cat", "echo"), f"{where}: cannot run {command!r}"
        if words[0] == "ragstone":
            words = [sys.executable, "-m", "ragstone", *words[1:]]
        done = subprocess.run(
            words,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # in the order in which a person sees it
            text=True,
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
        )
        got = done.stdout
        assert "Traceback" not in got, f"{where}: {got}"
        if wanted.strip():
            agree(wanted, got, f"{where}: $ {command}")
        else:
            assert done.returncode in (0, 1, 3), f"{where}: $ {command}\n{got}"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if is_left_to_check(page) else page
        for page in PAGES
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # what a page registers must not reach the tests that run after it in this process
    monkeypatch.setattr(report_formats, "_FORMATS", list(report_formats._FORMATS))
    monkeypatch.setattr(data_formats, "FORMATS", dict(data_formats.FORMATS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    if page.name == "store.md":
        # DuckDB would fetch its SQLite extension; here it comes with a package
        pytest.importorskip("duckdb_extensions").import_extension("sqlite_scanner")
    names: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.title:
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
        elif block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.body, where, "exec"), names)
            printed = out.getvalue()
            continue
        elif block.kind == "text" and printed is not None:
            agree(block.body, printed, where)
        elif block.kind == "console":
            run_console(block, tmp_path, where)
        printed = None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            # the Spanish site is built apart and links to English pages as they are built
            source = re.sub(r"\.html$", ".md", target)
            assert (page.parent / source).exists(), f"{page}: {target}"


def test_every_path_on_the_architecture_page_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    paths = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|/[a-z_]+|\.py|\.toml))`", text)
    assert paths
    package = ROOT / "src" / "ragstone"
    folders = (ROOT, package, package / "locale" / "en")
    missing = [path for path in paths if not any((folder / path).exists() for folder in folders)]
    assert not missing


def test_the_readme_files_fit_on_a_page() -> None:
    for page in ROOT.glob("README*.md"):
        assert len(page.read_text(encoding="utf-8").splitlines()) <= 120


def test_generated_parts_are_as_the_code_has_them() -> None:
    """In a process of its own: the examples above register metrics of their own."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_page_is_in_the_navigation(page: Path) -> None:
    parts = page.relative_to(ROOT / "docs").parts
    config, place = ("mkdocs.es.yml", parts[1:]) if parts[0] == "es" else ("mkdocs.yml", parts)
    assert f": {'/'.join(place)}\n" in (ROOT / config).read_text(encoding="utf-8")


def test_llms_txt_links_to_every_page_of_the_navigation() -> None:
    listed = re.findall(r"\]\((.+?)\)", (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8"))
    pages = re.findall(r": ([\w-]+)\.md\n", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(f"{page}.html" for page in pages)
    assert all((ROOT / "docs" / f"{page}.md").is_file() for page in pages)


def test_every_row_of_the_integrations_names_a_test_that_has_it() -> None:
    text = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if "`tests/" in line]
    assert rows
    for row in rows:
        files = re.findall(r"`(tests/.+?\.py)`", row[-2])
        tests = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
        name = re.match(r"[ \[]*(\w+)", row[1])[1].lower()
        assert name in tests.lower(), (name, files)


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_files_run(example: Path, tmp_path: Path) -> None:
    for package in ("fastapi", "langchain_core"):
        if f"from {package}" in example.read_text(encoding="utf-8"):
            pytest.importorskip(package, reason=f"{package} is not installed (make test-all)")
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), f"{example.name} shows nothing"


def test_there_are_examples() -> None:
    assert EXAMPLES


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 200_000, picture.name


def test_the_built_pages_load_nothing_from_outside(tmp_path: Path) -> None:
    pytest.importorskip("material")
    for config, folder in (("mkdocs.yml", tmp_path), ("mkdocs.es.yml", tmp_path / "es")):
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-f", config, "-d", folder],
            cwd=ROOT,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "search" / "search_index.json").exists()  # one for each language
    built = sorted(tmp_path.rglob("*.html"))
    assert built
    loaded = re.compile(
        r"<(?:link|script|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//"
    )
    for page in built:
        assert not loaded.search(page.read_text(encoding="utf-8")), page.name
