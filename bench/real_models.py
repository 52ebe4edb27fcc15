"""A real small model as a judge: the plain and JSON routes beside bare questions, Ragas, the embedded judge, containment.

python -m bench.real_models --model qwen.gguf --route plain --rows 10     one route on ten rows of each set
python -m bench.real_models --model qwen.gguf                              every route, every row
python -m bench.real_models --model qwen.gguf --pairs                      the blind pairs instead of labelled rows
python -m bench.real_models --report                                       the tables of what was measured so far

Rows of the shared judge data with contexts under 1,800 characters, as many of each label, the same for every route. Every
prediction is kept in a file outside the checkout (`--cache`): stop it whenever you like and start it again.
The model is served by llama.cpp in this process, behind a proxy that counts the tokens of whoever asks; `--base-url`
takes a server that runs already. Ragas is no dependency: name a Python that has it with `--ragas-python`.
`--embedded FILE` judges each row with models of the embedded judge that never saw its set (`python -m bench.judge --held-out FILE`
writes them): the shipped ones were fitted on these rows too."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.models.meter import TokenMeter
from bench.models.report import print_report
from bench.models.routes import ROUTES, Row, ask_ragas

MAX_CONTEXT_CHARS = 1_800
SETS = (
    "ragtruth_test", "summedits", "factcheckgpt", "faithdial_audit", "inferes", "summac_extra", "wice",
)  # fmt: skip
MIN_ROWS_PER_LABEL = 5
"""A set with fewer short rows of either label is left out and named: WiCE."""
SEED = "real models 1"


def load_rows(per_set: int) -> list[Row]:
    """Rows of each set, half of each label, in a fixed order in which every beginning is balanced."""
    from bench.judge.rows import load

    by_set = []
    for name in SETS:
        short = [row for row in load("judge", name) if len(row["context"]) < MAX_CONTEXT_CHARS]
        labels = [
            sorted(
                (Row.from_data(name, row) for row in short if row["label"] == label),
                key=lambda row: row.draw(SEED),
            )
            for label in (0, 1)
        ]
        if min(map(len, labels)) < MIN_ROWS_PER_LABEL:
            print(f"{name} is left out: {len(labels[0])} and {len(labels[1])} short rows")
            continue
        by_set.append([row for pair in zip(*labels, strict=False) for row in pair][:per_set])
    count = max(map(len, by_set))
    return [rows[n] for n in range(count) for rows in by_set if n < len(rows)]


def load_pairs() -> list[Row]:
    """The blind pairs, a set for each language."""
    from bench.judge.pairs import BLIND

    rows = [json.loads(line) for line in BLIND.read_text("utf-8").splitlines()]
    return [Row.from_data(f"pairs {row['language']}", row) for row in rows]


@contextmanager
def serve(model: str, threads: int) -> Iterator[str]:
    """The address of a llama.cpp server for a GGUF file, as long as it is needed."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx, parameters.n_parallel = 8192, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.port = 0
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    yield server.listening_address + "/v1"
    del server


def measure(
    route: str, rows: list[Row], meter: TokenMeter | None, options: argparse.Namespace, cache: Path
) -> None:
    """Predict every row that the cache lacks, one after another."""
    known = {(entry["route"], entry["row"]) for entry in read_cache(cache, options.name)}
    wanted = [row for row in rows if (route, row.key) not in known]
    print(f"{route}: {len(rows) - len(wanted)} rows are known, {len(wanted)} to go", flush=True)
    predict = ROUTES.get(route) or ask_ragas(options.ragas_python)
    for number, row in enumerate(wanted, 1):
        before = meter.read() if meter else {}
        started = time.perf_counter()
        prediction = predict(row, meter.url if meter else "", options.held_out)
        if prediction["outcome"].startswith("transport"):
            raise SystemExit(f"the server is gone: {prediction['outcome']}; start again to go on")
        entry = {
            "model": options.name,
            "route": route,
            "row": row.key,
            "set": row.set,
            "label": row.label,
            "seconds": round(time.perf_counter() - started, 2),
            **({k: v - before[k] for k, v in meter.read().items()} if meter else {}),
            **prediction,
        }
        with cache.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
        print(
            f"  {number}/{len(wanted)} {row.set}: {prediction['score']} (label {row.label}), "
            f"{entry['seconds']} s",
            flush=True,
        )


def read_cache(cache: Path, model: str) -> list[dict[str, Any]]:
    """Predictions with this model; those that need none serve all."""
    if not cache.exists():
        return []
    entries = [json.loads(line) for line in cache.read_text("utf-8").splitlines()]
    return [entry for entry in entries if entry["model"] in (model, "none")]


def main() -> None:
    """Measure, then print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="a GGUF file to serve")
    parser.add_argument("--base-url", help="a llama.cpp server that runs already")
    parser.add_argument("--name", help="name of the model in the cache (default: the file's name)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--route", action="append", choices=[*ROUTES, "ragas"])
    parser.add_argument("--rows", type=int, default=40, help="rows of each set")
    parser.add_argument("--pairs", action="store_true", help="the blind pairs instead of rows")
    parser.add_argument("--ragas-python", default=sys.executable, help="a Python that has Ragas")
    parser.add_argument("--embedded", type=Path, help="weights of held-out embedded judges")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    default = Path.home() / ".cache" / "ragstone-bench" / "real_models.jsonl"
    parser.add_argument("--cache", type=Path, default=default)
    options = parser.parse_args()
    options.name = options.name or (Path(options.model).stem if options.model else "server")
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    rows = load_pairs() if options.pairs else load_rows(options.rows)
    options.held_out = json.loads(options.embedded.read_text()) if options.embedded else {}
    for route in [] if options.report else options.route or [*ROUTES, "ragas"]:
        measure_route(route, rows, options)
    print_report(read_cache(options.cache, options.name), rows)


def measure_route(route: str, rows: list[Row], options: argparse.Namespace) -> None:
    """Measure one route, with a server where it needs one."""
    if route in ("embedded", "containment"):
        measure(
            route, rows, None, argparse.Namespace(**vars(options) | {"name": "none"}), options.cache
        )
    elif options.base_url:
        with TokenMeter(options.base_url) as meter:
            measure(route, rows, meter, options, options.cache)
    else:
        if not options.model:
            raise SystemExit(f"route {route} needs --model FILE.gguf or --base-url URL")
        with serve(options.model, options.threads) as url, TokenMeter(url) as meter:
            measure(route, rows, meter, options, options.cache)


if __name__ == "__main__":
    main()
