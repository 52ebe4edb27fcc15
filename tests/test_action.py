"""The GitHub Action, the GitLab job and the Dockerfile: their steps run as scripts, their shape is what the services take."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GH = """#!/usr/bin/env bash
echo "$@" >> "$GH_LOG"
case "$*" in
  *PATCH*|*POST*) cp .ragstone/comment.md "$GH_LOG.body"; echo '{}' ;;
  *) [ -f "$GH_LOG.body" ] && echo 77 || true ;;
esac
"""


SUMMARY = "Report as the summary of the job"


class Workflow:
    """Runs the shell steps of the action as a runner would: expressions filled in, `uses` steps passed over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        tools = folder / "bin"
        tools.mkdir()
        (tools / "ragstone").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ragstone "$@"\n')
        (tools / "gh").write_text(GH)
        for tool in tools.iterdir():
            tool.chmod(0o755)
        self.log = folder / "gh.log"

    def run(self, event: str, head: str, base: str = "") -> dict[str, int]:
        """The exit code of each step by its name; stops at the first that fails."""
        context = {
            "github.event_name": event, "github.head_ref": head if base else "", "github.base_ref": base,
            "github.ref_name": head, "github.head_ref || github.ref_name": head,
            "github.repository": "a/b", "github.event.pull_request.number": "7", "github.token": "t",
            **{f"inputs.{name}": value["default"] for name, value in self.action["inputs"].items()},
        }  # fmt: skip
        codes: dict[str, int] = {}
        for step in self.action["runs"]["steps"]:
            is_wanted = "pull_request'" not in step.get("if", "") or (
                (event == "pull_request") == ("!=" not in step["if"])
            )
            if "run" not in step or step["name"] == "Install" or not is_wanted:
                continue
            outputs = self.folder / "outputs"
            outputs.write_text("")
            variables = {
                key: self._fill(str(value), context) for key, value in step.get("env", {}).items()
            }
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder, capture_output=True, text=True,
                env={**os.environ, **variables, "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                     "GITHUB_OUTPUT": str(outputs), "GH_LOG": str(self.log),
                     "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md")},
            )  # fmt: skip
            codes[step["name"]] = done.returncode
            for line in outputs.read_text().splitlines():
                key, _, value = line.partition("=")
                context[f"steps.{step['id']}.outputs.{key}"] = value
            if done.returncode:
                break
        return codes

    @staticmethod
    def _fill(text: str, context: dict[str, str]) -> str:
        filled = re.sub(r"\$\{\{ (.*?) \}\}", lambda match: context.get(match[1], ""), text)
        return Workflow._fill(filled, context) if "${{" in filled else filled


@pytest.mark.parametrize(("given", "installed"), [("", "/the/action"), ("ragstone==0.2.0", "ragstone==0.2.0")])  # fmt: skip
def test_the_action_installs_its_own_ref_unless_told_otherwise(
    given: str, installed: str, tmp_path: Path
) -> None:
    step = next(s for s in Workflow(tmp_path).action["runs"]["steps"] if s["name"] == "Install")
    (tmp_path / "bin" / "python").write_text('#!/bin/sh\nfor word; do :; done\necho "$word"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    context = {"inputs.install": given, "github.action_path": "/the/action"}
    variables = {key: Workflow._fill(value, context) for key, value in step.get("env", {}).items()}
    done = subprocess.run(
        ["bash", "-c", step["run"]], capture_output=True, text=True,
        env={**os.environ, **variables, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == f"{installed}\n"


def write_data(folder: Path, right: int) -> None:
    rows = [
        {"id": f"q{n}", "question": "Who? @octocat", "answer": "me" if n < right else "you", "reference": "me"}
        for n in range(60)
    ]  # fmt: skip
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "ragstone.yaml").write_text(
        "data: answers.jsonl\nmetrics: [exact_match]\ngates:\n  exact_match: mean >= 0.2\n"
    )


def test_a_pull_request_is_compared_commented_and_refused_when_it_is_worse(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path)
    write_data(tmp_path, right=50)
    assert workflow.run("push", "main") == {"Evaluate": 0, SUMMARY: 0, "Verdict": 0}
    assert "exact" in (tmp_path / "summary.md").read_text("utf-8"), (
        "a fork's report, which cannot be a comment"
    )
    assert not workflow.log.exists(), "a push has no pull request to comment on"
    write_data(tmp_path, right=20)
    codes = workflow.run("pull_request", "feature", base="main")
    assert codes == {
        "Evaluate": 0,
        "Compare with the base branch": 0,
        "Comment": 0,
        SUMMARY: 0,
        "Verdict": 1,
    }
    comment = (tmp_path / "gh.log.body").read_text("utf-8")
    assert comment.startswith("<!-- ragstone -->")
    assert "exact" in comment
    assert "@octocat" not in comment
    assert "@&#8203;octocat" in comment
    assert "--method POST" in workflow.log.read_text()
    write_data(tmp_path, right=50)
    assert workflow.run("pull_request", "feature", base="main")["Verdict"] == 0
    assert workflow.log.read_text().splitlines()[-1].startswith("api --method PATCH"), "one comment"


def test_a_failed_gate_and_bad_input_keep_their_exit_codes(tmp_path: Path) -> None:
    workflow = Workflow(tmp_path)
    write_data(tmp_path, right=3)
    assert workflow.run("pull_request", "feature", base="main")["Verdict"] == 1
    assert "nothing to compare with" in (tmp_path / ".ragstone" / "compare.md").read_text()
    (tmp_path / "ragstone.yaml").write_text("data: missing.jsonl\n")
    assert workflow.run("push", "main") == {"Evaluate": 2}


def test_the_action_has_the_shape_that_github_takes() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert {"name", "description", "inputs", "outputs", "runs"} <= set(action)
    assert action["runs"]["using"] == "composite"
    assert all(value["description"].endswith(".") for value in action["inputs"].values())
    for step in action["runs"]["steps"]:
        assert ("run" in step) != ("uses" in step), step["name"]
        assert "shell" in step or "uses" in step, step["name"]
        assert "@v" in step.get("uses", "@v"), "pinned to a version"
        # what outsiders write (branch names, titles) reaches scripts through the environment only
        assert "${{" not in step.get("run", ""), step["name"]
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8")))
    assert used == set(action["inputs"])


def test_the_gitlab_job_has_the_shape_that_gitlab_takes() -> None:
    (job,) = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8")).values()
    assert {"image", "script", "artifacts"} <= set(job)
    assert all(isinstance(line, str) for line in job["script"])
    assert job["artifacts"]["reports"]["junit"] == ".ragstone/junit.xml"
    for line in job["script"]:
        subprocess.run(["bash", "-n", "-c", line], check=True)


@pytest.mark.parametrize("instruction", ["USER 1000", "HEALTHCHECK ", "ENTRYPOINT "])
def test_the_container_is_not_root_and_says_how_it_is(instruction: str) -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(instruction))
    assert at > max(number for number, line in enumerate(lines) if line.startswith("RUN "))
    copied = re.findall(r"^COPY (?!--from)(.+?) \./\S*$", "\n".join(lines), re.MULTILINE)
    assert all((ROOT / name).exists() for names in copied for name in names.split())


def test_hadolint_finds_nothing() -> None:
    tool = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if tool is None:
        pytest.skip("needs hadolint, of requirements-dev.txt")
    done = subprocess.run([tool, str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


COMPOSE = ROOT / "examples" / "compose"


def test_the_dashboard_shows_figures_that_the_monitor_has() -> None:
    source = (ROOT / "src/ragstone/monitor/exposition.py").read_text("utf-8")
    known = set(re.findall(r'"(ragstone_[a-z0-9_]+)"', source))
    dashboard = json.loads((COMPOSE / "grafana/dashboard.json").read_text("utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    used = {name for expression in asked for name in re.findall(r"ragstone_[a-z0-9_]+", expression)}
    assert len(used) > 8
    assert used <= known
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)


def test_the_compose_file_names_files_that_are_there_and_no_secret() -> None:
    text = (COMPOSE / "compose.yaml").read_text("utf-8")
    services = yaml.safe_load(text)["services"]
    mounted = [
        m.split(":")[0]
        for s in services.values()
        for m in s.get("volumes", ())
        if m.startswith("./")
    ]
    assert len(mounted) == 4
    assert all((COMPOSE / place).is_file() for place in mounted)
    assert not re.search(r"(PASSWORD|TOKEN): (?!\$\{)", text)
    # nothing listens on other addresses than this machine's
    assert all(
        port.startswith("127.0.0.1:") for s in services.values() for port in s.get("ports", ())
    )
