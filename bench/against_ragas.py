"""Calls and prompt characters a sample: ours against Ragas, on the same samples, metrics and server.

python -m bench.against_ragas [--samples 20] [--python OTHER_VENV/bin/python]

Ragas is no dependency of this project: install `ragas` and `langchain-openai` somewhere and name that Python.
Both talk to one loopback server, which reads each prompt and replies with a document of the shape it asks for:
one claim for each sentence, one verdict for each claim, the first half of them good."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

ABSENT = 3
"""Exit code of the worker when its Python has no Ragas."""


@dataclass
class Count:
    """What one contestant sent."""

    calls: int = 0
    prompt: int = 0
    """Characters of the messages."""
    body: int = 0
    """Characters of the whole requests: with the schema of the reply, wherever it is put."""
    embeddings: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self, body: dict[str, Any], size: int) -> None:
        with self.lock:
            if "input" in body:
                self.embeddings += 1
                return
            self.calls += 1
            self.body += size
            self.prompt += sum(len(message["content"]) for message in body["messages"])


class Server(ThreadingHTTPServer):
    """Replies to either contestant and counts."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, delay_ms: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), Talk)
        self.count = Count()
        self.delay_seconds = delay_ms / 1000
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Talk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *args: Any) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
        body = json.loads(raw)
        self.server.count.note(body, len(raw))
        time.sleep(self.server.delay_seconds)
        data = json.dumps(_vectors(body) if "input" in body else _completion(body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _vectors(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = [
        {"object": "embedding", "index": n, "embedding": [0.1, 0.2, 0.3]} for n in range(len(texts))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "vectors", "data": rows, "usage": usage}


def _completion(body: dict[str, Any]) -> dict[str, Any]:
    prompt = body["messages"][-1]["content"]
    if "complies with the following schema" in prompt:
        text = json.dumps(_for_ragas(prompt))
    else:
        from bench.judge_server import content

        text = content(prompt)
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for n in range(body.get("n") or 1)
    ]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "bench",
            "choices": choices, "usage": usage}  # fmt: skip


def _for_ragas(prompt: str) -> dict[str, Any]:
    """A reply of the shape that a prompt of Ragas shows, about the input that it ends with."""
    given = json.loads(prompt[prompt.rindex("\ninput: ") + 8 : prompt.rindex("}") + 1])
    wanted = prompt.partition("JSON Schema:\n")[2]
    if '"TP"' in wanted:
        answer, truth = given["answer"], given["ground_truth"]
        rows = [{"statement": one, "reason": "r"} for one in answer]
        missing = [{"statement": one, "reason": "r"} for one in truth[1:]]
        return {"TP": rows[:1], "FP": rows[1:], "FN": missing}
    if '"classifications"' in wanted:
        names = _sentences(given["answer"])
        return {"classifications": _verdicts(names, "attributed")}
    if '"noncommittal"' in wanted:
        return {"question": "What is it?", "noncommittal": 0}
    if '"statements"' in wanted and "statements" in given:
        return {"statements": _verdicts(given["statements"], "verdict")}
    if '"statements"' in wanted:
        return {"statements": _sentences(given["answer"])}
    if '"verdict"' in wanted:
        return {"reason": "r", "verdict": 1}
    raise ValueError(f"no reply is known for {wanted[:200]}")


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=\.)\s+", text.strip())


def _verdicts(statements: list[str], name: str) -> list[dict[str, Any]]:
    half = len(statements) // 2
    return [{"statement": one, "reason": "r", name: int(n < half)} for n, one in enumerate(statements)]  # fmt: skip


def ragas(url: str, workers: int) -> None:
    """What runs in the other Python: the five metrics of Ragas on the samples from standard input."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    try:
        import ragas.metrics as offered
        from langchain_openai import ChatOpenAI, OpenAIEmbeddings
        from ragas import EvaluationDataset, RunConfig, evaluate
        from ragas.embeddings import LangchainEmbeddingsWrapper
        from ragas.llms import LangchainLLMWrapper
    except ImportError:
        raise SystemExit(ABSENT) from None
    place = {"base_url": url, "api_key": "none", "max_retries": 0}
    vectors = OpenAIEmbeddings(model="vectors", check_embedding_ctx_length=False, **place)
    names = (
        "Faithfulness", "ResponseRelevancy", "LLMContextPrecisionWithReference",
        "LLMContextRecall", "AnswerCorrectness",
    )  # fmt: skip
    rows = [
        {
            "user_input": row["question"],
            "response": row["answer"],
            "retrieved_contexts": [chunk["text"] for chunk in row["contexts"]],
            "reference": row["reference"],
        }
        for row in map(json.loads, sys.stdin)
    ]
    cpu, wall = time.process_time(), time.perf_counter()
    result = evaluate(
        EvaluationDataset.from_list(rows),
        metrics=[getattr(offered, name)() for name in names],
        llm=LangchainLLMWrapper(ChatOpenAI(model="bench", **place)),
        embeddings=LangchainEmbeddingsWrapper(vectors),
        run_config=RunConfig(max_retries=0, max_workers=workers),
        show_progress=False,
    )
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    print(json.dumps({"version": __import__("ragas").__version__, "scores": str(result), **spent}))


class Rival(NamedTuple):
    """What Ragas sent, what it calls itself, and what it took, imports apart."""

    count: Count
    name: str
    cpu: float
    wall: float


def theirs(
    python: str, rows: list[dict[str, Any]], *, delay_ms: int = 0, workers: int = 16
) -> Rival | None:
    """Ragas on the same samples; None when that Python has none."""
    server = Server(delay_ms)
    done = subprocess.run(
        [python, __file__, "--worker", server.url, "--in-flight", str(workers)],
        input="\n".join(map(json.dumps, rows)), capture_output=True, text=True,
    )  # fmt: skip
    server.shutdown()
    if done.returncode == ABSENT:
        return None
    if done.returncode:
        raise SystemExit(f"Ragas did not finish:\n{done.stderr[-2000:]}")
    said = json.loads(done.stdout.splitlines()[-1])
    if "nan" in said["scores"]:
        raise SystemExit(
            f"Ragas could not score everything: {said['scores']}\n{done.stderr[-2000:]}"
        )
    return Rival(server.count, f"Ragas {said['version']}", said["cpu"], said["wall"])


def ours(rows: list[dict[str, Any]]) -> Count:
    """What ragstone sent."""
    import ragstone
    from bench.judges import FIVE, judge_at

    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        run = ragstone.evaluate(
            rows, FIVE, judge=judge_at(server.url, 4), store=Path(folder) / "s.db"
        )
        unscored = [one for row in run.rows() for one in row.scores.values() if not one.ok]
    server.shutdown()
    if unscored:
        raise SystemExit(f"ragstone could not score everything: {unscored[0]}")
    return server.count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--python", default=sys.executable, help="a Python that has Ragas")
    parser.add_argument("--worker", metavar="URL")
    parser.add_argument("--in-flight", type=int, default=16)
    options = parser.parse_args()
    if options.worker:
        ragas(options.worker, options.in_flight)
        return
    from bench.judges import line, samples

    rows = samples(options.samples)
    found = theirs(options.python, rows)
    if found is None:
        print("skipped: this Python has no Ragas; name one that has with --python (see --help)")
        return
    count, name, *_ = found
    mine = ours(rows)
    for who, one in (("ragstone", mine), (name, count)):
        print(
            f"     {who:<16} {one.calls / len(rows):6.2f} LLM calls, {one.prompt / len(rows):8,.0f} "
            f"prompt characters, {one.body / len(rows):8,.0f} characters of requests a sample"
        )
    share = mine.prompt / count.prompt
    line(f"prompt characters / {name}'s, five metrics", f"{share:.2f}", "<= 0.50", share <= 0.5)
    print(f"     whole requests (the schema counts) / {name}'s {mine.body / count.body:>18.2f}")


if __name__ == "__main__":
    main()
