"""MLflow: a run with parameters, figures, a table of samples, and the report and evidence as artifacts.

A run that is sent again replaces its figures and artifacts."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ragstone.report.trackers.contents import RunContents

RUN_TAG = "ragstone.run"
TABLE_FILE = "samples.json"
MAX_PARAMETER_CHARS = 500


def send(run: RunContents, project: str, tracking_uri: str | None = None) -> str:
    """Log a run to an experiment; the server is `tracking_uri`, MLFLOW_TRACKING_URI, or files in this folder."""
    # ragstone connects only to what its user names; MLflow reports its use to its makers unless told otherwise
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=tracking_uri)
    experiment = client.get_experiment_by_name(project)
    experiment_id = client.create_experiment(project) if experiment is None else experiment.experiment_id  # fmt: skip
    run_id = _open_run(client, experiment_id, run)
    for name, value in run.collect_figures().items():
        client.log_metric(run_id, name, value)
    head, rows = run.build_table()
    client.log_dict(run_id, {"columns": head, "data": rows}, TABLE_FILE)
    # what MLflow's own log_table notes, so that its page shows the table
    client.set_tag(
        run_id, "mlflow.loggedArtifacts", f'[{{"path": "{TABLE_FILE}", "type": "table"}}]'
    )
    with tempfile.TemporaryDirectory() as folder:
        run.write_files(Path(folder))
        client.log_artifacts(run_id, folder)
    client.set_terminated(run_id)
    return f"MLflow run {run_id} of the experiment {project}"


def _open_run(client: Any, experiment_id: str, run: RunContents) -> str:
    facts = run.collect_facts()
    same = client.search_runs(
        [experiment_id], f"tags.`{RUN_TAG}` = '{facts['run']}'", max_results=1
    )
    if same:
        known: str = same[0].info.run_id
        return known
    tags = {RUN_TAG: facts["run"], "mlflow.source.name": "ragstone"}
    created: str = client.create_run(experiment_id, tags=tags, run_name=run.name).info.run_id
    for name, value in facts.items():
        client.log_param(created, name, value[:MAX_PARAMETER_CHARS])
    return created
