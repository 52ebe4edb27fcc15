"""`ragstone monitor`: logs in, interactions forgotten, the judge's work from cron."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.monitor import Archive, ScoredInteraction
from ragstone.store import Store
from ragstone.types import Score


def log(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def archive(tmp_path):
    return lambda: Archive(Store.open(tmp_path / "store.db"))


ROWS = [
    {"question": "Where is Paris?", "contexts": ["Paris is in France."], "answer": "In France.",
     "timestamp": 1_780_000_000_000, "feedback": "down", "latency_ms": 500, "model": "m",
     "trace": ["x"]},
    {"question": "Who?", "contexts": [], "answer": "Nobody.", "timestamp": "2026-05-28T20:26:41Z",
     "feedback": 1, "cost": 0.5, "tokens": 12},
]  # fmt: skip


def test_a_log_is_stored_once_however_often_it_is_read(call, tmp_path, archive) -> None:
    file = log(tmp_path / "log.jsonl", ROWS)
    assert "stored 2 interactions" in call("monitor", "import", file).err
    again = call("monitor", "import", file)
    assert again.code == 0
    assert "stored 0 interactions" in again.err
    assert "stored before: 2 interactions" in again.err
    who, where = archive().interactions()
    assert (where.at, where.feedback, where.latency) == (1_780_000_000_000_000, 0.0, 0.5)
    assert where.meta == {"model": "m"}
    assert where.contexts.texts == ["Paris is in France."]
    assert (who.at, who.feedback, who.cost, who.tokens) == (1_780_000_001_000_000, 1.0, 0.5, 12)


def test_other_formats_and_ids_of_their_own(call, tmp_path, archive) -> None:
    row = {"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "id": "mine"}
    call("monitor", "import", log(tmp_path / "ragas.jsonl", [row]))
    assert archive().get("mine").question == "q"


def test_a_bad_row_is_named_or_skipped(call, tmp_path, archive) -> None:
    file = log(tmp_path / "log.jsonl", [*ROWS, {**ROWS[0], "timestamp": "yesterday"}])
    bad = call("monitor", "import", file)
    assert bad.code == 2
    assert "row 3" in bad.err
    assert "yesterday" in bad.err
    skipped = call("monitor", "import", file, "--skip-bad-rows")
    assert skipped.code == 0
    assert "excluded 1 bad row" in skipped.err
    assert sum(1 for _ in archive().interactions()) == 2


def test_a_hook_redacts_what_is_imported(call, tmp_path, archive) -> None:
    (tmp_path / "hook.py").write_text(
        "def scrub(text, field):\n    return text.replace('Paris', '***')\n"
    )
    call("monitor", "import", log(tmp_path / "l.jsonl", ROWS), "--redact", "hook.py:scrub")
    assert {interaction.question for interaction in archive().interactions()} == {
        "Where is ***?",
        "Who?",
    }


def test_forgetting_by_id_and_by_age(call, tmp_path, archive) -> None:
    rows = [{"id": id, "question": "q", "answer": "a", "at": at}
            for id, at in (("a", "2020-01-01"), ("b", "2026-01-01"), ("c", "2026-02-01"))]  # fmt: skip
    call("monitor", "import", log(tmp_path / "l.jsonl", rows))
    archive().save_scores([ScoredInteraction("b", {"m": Score(1.0)})]).result()
    assert "deleted 1 interaction" in call("monitor", "purge", "--id", "b", "-y").err
    assert "1 id not found" in call("monitor", "purge", "--id", "b", "-y").err
    assert archive().scores("b") == {}
    assert "deleted 1 interaction" in call("monitor", "purge", "--before", "2021-01-01", "-y").err
    assert [interaction.id for interaction in archive().interactions()] == ["c"]
    assert call("monitor", "purge", "-y").code == 2
    assert call("monitor", "purge", "--before", "long ago", "-y").code == 2


def test_scoring_from_cron_with_a_config(call, tmp_path, archive) -> None:
    call("monitor", "import", log(tmp_path / "l.jsonl", ROWS))
    (tmp_path / "c.yaml").write_text(
        "monitor:\n  metrics: [faithfulness, latency]\n  rate: 0\n  always: {feedback_below: 0.5}\n"
    )
    done = call("monitor", "score", "-c", "c.yaml")
    assert done.code == 0
    assert "scored 1 interaction of 2" in done.err
    who, where = archive().interactions()
    assert archive().scores(who.id) == {}
    scores = archive().scores(where.id)
    assert scores["latency"].value == 0.5
    assert scores["faithfulness"].ok
    again = call("monitor", "score", "-c", "c.yaml", "--since", "3650d", "--rate", "1")
    assert "1 interaction considered again" in again.err
    assert archive().scores(who.id)["faithfulness"].outcome in ("ok", "not_applicable")


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        ("rate: 2", "'rate' is 2; give a number from 0 to 1"),
        ("rte: 0.1", "did you mean 'rate'"),
        ("metrics: [nothing]", "no metric 'nothing'"),
        ("rates: {model: 3}", "the rates of 'model' are 3"),
        ("rates: {model: {a: 7}}", "'model: a' is 7"),
        ("always: {feedback: 1}", "did you mean 'feedback_below'"),
        ("always: {score_below: low}", "'score_below' is 'low'; give a number"),
        ("max_calls: 0", "give a whole number from 1"),
        ("retention: soon", "'retention' is 'soon'; write 90d"),
        ("judge: {modle: x}", "did you mean 'model'"),
    ],
)
def test_the_monitor_section_is_strict(call, tmp_path, section, complaint) -> None:
    (tmp_path / "c.yaml").write_text(f"monitor:\n  {section}\n")
    refused = call("monitor", "score", "-c", "c.yaml")
    assert refused.code == 2
    assert "c.yaml:2" in refused.err
    assert complaint in refused.err


def test_the_server_refuses_to_be_open_to_everyone(call) -> None:
    refused = call("monitor", "serve", "--host", "0.0.0.0")
    assert refused.code == 2
    assert "RAGSTONE_MONITOR_TOKEN" in refused.err
    assert call("monitor", "serve", "--redact", "nothing:here").code == 2
    assert call("monitor", "serv").code == 2
