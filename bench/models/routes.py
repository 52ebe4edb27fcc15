"""The routes: how one row of answer and context becomes a score, or none with the reason."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

LIMITS = {"deadline": 3_600.0, "timeout": 3_600.0, "max_retries": 0, "concurrency": 1}
"""A busy machine is no fault of a route."""


class Row(NamedTuple):
    """One labelled answer."""

    key: str
    set: str
    label: int
    question: str
    context: str
    answer: str
    language: str

    @classmethod
    def from_data(cls, name: str, row: Mapping[str, Any]) -> Row:
        """A row of the shared data, or a pair."""
        question = row.get("question") or ""
        text = json.dumps([name, question, row["context"], row["claim"]])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        language = row.get("language") or ("es" if name == "inferes" else "en")
        return cls(key, name, row["label"], question, row["context"], row["claim"], language)

    def draw(self, seed: str) -> str:
        """Where the row stands in a random order."""
        return hashlib.sha256(f"{seed}{self.key}".encode()).hexdigest()

    @property
    def sample(self) -> dict[str, Any]:
        """The row as a sample of ragstone."""
        asked = {"question": self.question} if self.question else {}
        return {"id": self.key, **asked, "answer": self.answer,
                "contexts": [self.context], "language": self.language}  # fmt: skip


Prediction = dict[str, Any]
"""`score` (higher: supported; None when there is none), `verdict` (fully supported or not), `outcome`, details."""
HeldOut = Mapping[str, Mapping[str, Any]]
"""Set → the weights of the embedded judge's models that were fitted without it."""


YES_OR_NO = {
    "en": (
        "Source:\n{}\n\nStatement: {}\n\nIs the statement fully supported by the source? "
        "Answer with one word, Yes or No."
    ),
    "es": (
        "Fuente:\n{}\n\nAfirmación: {}\n\n¿La fuente respalda por completo la afirmación? "
        "Responde con una sola palabra, Sí o No."
    ),
}


def ask_bare(row: Row, url: str, models: HeldOut) -> Prediction:
    """One question about the whole answer, read by the log-probabilities of yes and no."""
    return _score_chances([_ask_yes_or_no(row, row.answer, url)])


def ask_sentences(row: Row, url: str, models: HeldOut) -> Prediction:
    """The same question about each sentence of the answer, and nothing else: the mean."""
    from ragstone.text.sentences import split_sentences

    spans = split_sentences(row.answer)
    return _score_chances([_ask_yes_or_no(row, row.answer[start:end], url) for start, end in spans])


def _ask_yes_or_no(row: Row, statement: str, url: str) -> float | None:
    """P(yes), or None where the model says neither."""
    body = {
        "model": "local",
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": 20,
        "messages": [
            {
                "role": "user",
                "content": YES_OR_NO[row.language].format(row.context.strip(), statement),
            }
        ],
    }
    request = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        reply = json.load(response)
    options = ("si" if row.language == "es" else "yes", "no")
    chances = dict.fromkeys(options, 0.0)
    for token in reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
        word = token["token"].strip().lower().replace("í", "i")
        for option in options:
            if word and option.startswith(word):  # some tokenizers cut sí into s and í
                chances[option] += math.exp(token["logprob"])
    mass = sum(chances.values())
    return chances[options[0]] / mass if mass else None


def _score_chances(chances: Sequence[float | None]) -> Prediction:
    stated = [chance for chance in chances if chance is not None]
    if len(stated) < len(chances) or not stated:
        return _unscored("unparseable: neither yes nor no")
    return _scored(sum(stated) / len(stated), lowest=round(min(stated), 5))


def ask_plain(row: Row, url: str, models: HeldOut) -> Prediction:
    """Faithfulness with `small: true`: the value that is shown."""
    return _evaluate(row, _make_judge(url, small=True))


def ask_json(row: Row, url: str, models: HeldOut) -> Prediction:
    """Faithfulness on the JSON route."""
    return _evaluate(row, _make_judge(url, small=False))


def ask_embedded(row: Row, url: str, models: HeldOut) -> Prediction:
    """Faithfulness by the embedded judge."""
    from ragstone.judges.offline import OfflineJudge

    with use_held_out(row, models):
        return _evaluate(row, OfflineJudge())


def count_contained(row: Row, url: str, models: HeldOut) -> Prediction:
    """Share of the answer's longer words that stand in the context."""
    from ragstone.text.words import fold_text

    known = {word[:5] for word in fold_text(row.context).split()}
    words = [word[:5] for word in fold_text(row.answer).split() if len(word) > 3 or word.isdigit()]
    share = sum(word in known for word in words) / max(1, len(words))
    return _scored(share, verdict=share >= 0.75)


ROUTES: dict[str, Callable[[Row, str, HeldOut], Prediction]] = {
    "bare": ask_bare,
    "sentences": ask_sentences,
    "plain": ask_plain,
    "embedded": ask_embedded,
    "containment": count_contained,
    "json": ask_json,
}


def ask_ragas(python: str) -> Callable[[Row, str, HeldOut], Prediction]:
    """Faithfulness of Ragas, in a process of another Python that is started with the first row."""
    worker: list[subprocess.Popen[str]] = []

    def ask(row: Row, url: str, models: HeldOut) -> Prediction:
        if not worker:
            command = [python, str(Path(__file__).with_name("ragas_worker.py")), url]
            environment = {**os.environ, "RAGAS_DO_NOT_TRACK": "true"}
            worker.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment,
                )
            )
        pipe_in, pipe_out = worker[0].stdin, worker[0].stdout
        assert pipe_in is not None
        assert pipe_out is not None
        # Ragas does not score without a question
        pipe_in.write(json.dumps({"question": "What does the text say?"} | row.sample) + "\n")
        pipe_in.flush()
        line = pipe_out.readline()
        if not line:
            raise SystemExit(f"Ragas ended with code {worker[0].wait()}; see --ragas-python")
        reply = json.loads(line)
        if reply["value"] is None:
            return _unscored(reply["error"])
        return _scored(reply["value"], verdict=reply["value"] >= 1.0, ragas=reply["version"])

    return ask


@contextmanager
def use_held_out(row: Row, models: HeldOut) -> Iterator[None]:
    """Judge with the embedded judge's models that never saw the set of the row, if there are any."""
    from ragstone.judges.offline import features

    if row.set not in models:
        yield
        return
    shipped = features.load_weights
    features.load_weights = lambda: models[row.set]  # type: ignore[assignment]
    try:
        yield
    finally:
        features.load_weights = shipped


def _make_judge(url: str, *, small: bool) -> Any:
    from ragstone.judges.factory import make_judge

    return make_judge({"model": "openai:local", "base_url": url, "small": small, **LIMITS})


def _evaluate(row: Row, judge: Any) -> Prediction:
    import ragstone

    run = ragstone.evaluate([row.sample], ["faithfulness"], judge=judge, store=":memory:")
    (result,) = run.rows()
    score = result.scores["faithfulness"]
    if not score.ok:
        return _unscored(f"{score.kind or score.outcome}: {score.reason}")
    claims = [[f.text[:120], f.verdict, f.probability] for f in score.findings]
    if score.probability is None:
        return _scored(score.value, verdict=score.value == 1.0, claims=claims)
    return _scored(score.value, lowest=score.probability, claims=claims)


def _scored(score: float, verdict: bool | None = None, **more: Any) -> Prediction:
    if verdict is None:
        verdict = score >= 0.5
    return {"score": round(score, 5), "verdict": bool(verdict), "outcome": "ok", **more}


def _unscored(reason: str) -> Prediction:
    return {"score": None, "verdict": None, "outcome": reason[:200]}
