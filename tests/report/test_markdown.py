"""Markdown for pull requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paged import run_page
from ragstone.analysis import Summary, summarise
from ragstone.report import html, markdown
from ragstone.store import StoredRun
from ragstone.types import Score


def text_of(run: StoredRun, summary: Summary, language: str = "en") -> str:
    return markdown.render(run_page(run, summary, language))


def test_metrics_are_a_table_with_incomplete_ones_marked(run: StoredRun, summary: Summary) -> None:
    lines = text_of(run, summary).splitlines()
    assert "| `recall@5` ↑ | **0.496** | 0.440 – 0.552 | 0.500 | 107 / 107 / 120 |" in lines
    assert any(line.startswith("| `faithfulness` ↑ ⚠ incomplete | (0.528) |") for line in lines)


def test_a_gate_has_the_sign_of_its_state(run: StoredRun, summary: Summary) -> None:
    gates = tuple(replace(summary.gates[0], passed=passed) for passed in (True, False, None))
    lines = text_of(run, replace(summary, gates=gates)).splitlines()
    assert [line[:3] for line in lines if "recall@5 &gt;= 0.3" in line] == ["- ✅", "- ❌", "- ❓"]


def test_every_table_row_has_as_many_cells_as_its_heading(run: StoredRun, summary: Summary) -> None:
    width = None
    for line in text_of(run, summary, "es").splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = line.replace("\\|", "").count("|")
        assert cells == (width or cells), line
        width = cells


def test_text_from_outside_is_no_markup(build: Any) -> None:
    evil = "a|b\n# head <script>x</script> **bold** `code` [l](javascript:x) ~~s~~ $m$ _i_ \\"
    cases = [({"id": "i|1", "question": evil}, {"m": Score(0.5)})]
    metrics = ({"name": "m", "family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False,
                "judged": False, "labels": [], "meaning": ""},)  # fmt: skip
    run = build(cases, metrics=metrics, name="# " + evil, source=evil, judge=None)
    text = text_of(run, summarise(run))
    escaped = (
        r"a\|b # head &lt;script&gt;x&lt;/script&gt; \*\*bold\*\* \`code\` \[l\](javascript:x) "
        r"\~\~s\~\~ \$m\$ \_i\_ \\"
    )
    assert f"| i\\|1 | {escaped} | 0.500 |" in text.splitlines()
    assert text.startswith("# \\# a")
    assert "<script" not in text


def test_a_sample_mentions_nobody_and_links_no_issue() -> None:
    said = markdown.escape("ask @someone or @team/all about #12, write to a@b.org; recall@5")
    assert said == (
        "ask @&#8203;someone or @&#8203;team/all about #&#8203;12, write to a@b.org; recall@5"
    )


def test_the_ten_worst_samples_are_listed_worst_first(run: StoredRun, summary: Summary) -> None:
    text = text_of(run, summary)
    table = text[text.index("## Samples, worst first") :].splitlines()[6:16]
    ids = [line.split(" | ")[0].strip("| ") for line in table]
    assert ids == [run.row(position).id for position in summary.worst[:10]]


def test_it_speaks_spanish(run: StoredRun, summary: Summary) -> None:
    text = text_of(run, summary, "es")
    assert "| Métrica | Media | Intervalo del 95\xa0% |" in text
    assert "**0,496**" in text
    assert "extremo inferior del intervalo: 0," in text


def test_code_in_our_sentences_is_code_and_inert() -> None:
    remarks = [
        "`ragstone judge check` measures it; see `a_b`",
        "`<b>x</b>` and `a|b` stay text",
        "one ` alone",
    ]
    mark = markdown.open_environment().filters["sentence"]
    assert [str(mark(remark)) for remark in remarks] == [
        "`ragstone judge check` measures it; see `a_b`",
        r"\`&lt;b&gt;x&lt;/b&gt;\` and \`a\|b\` stay text",
        r"one \` alone",
    ]
    page = " ".join(str(html.mark_code(remark)) for remark in remarks)
    assert "<code>ragstone judge check</code> measures it; see <code>a_b</code>" in page
    assert "`&lt;b&gt;x&lt;/b&gt;` and `a|b` stay text" in page
