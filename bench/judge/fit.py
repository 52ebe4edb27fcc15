"""Fit the three models of the offline judge: doubtful words, supported claims, whole responses."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
from examples import TAGGER_NAMES, Example
from measures import balanced_accuracy, f1
from scipy.optimize import minimize

from ragstone.judges.offline.features import NAMES
from ragstone.judges.offline.verdicts import TAGGED, accepted, doubts, response_features

SEED = 7
LEFT_OUT = frozenset({"claims"})
"""Features that would tell the model which set a row is from rather than whether it is supported."""
CLAIM_NAMES = (*(name for name in NAMES if name not in LEFT_OUT), *TAGGED)
RAG = 5.0
"""Weight of the answers of RAG systems when claims are put together to responses, other sets having 1."""
ABOUT_AS_GOOD = 0.01
"""Loss of F1 + balanced accuracy that a lower bar on responses may cost."""
SYNTHETIC = 0.1
"""Weight of made-up claims against labelled ones of the same set."""

_SHARED: dict[str, Any] = {
    "objective": "binary",
    "verbose": -1,
    "num_threads": 1,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "bagging_freq": 1,
}
TOKEN = _SHARED | {
    "learning_rate": 0.1,
    "num_leaves": 24,
    "max_depth": 7,
    "min_data_in_leaf": 100,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.5,
    "lambda_l2": 5.0,
}
TOKEN_ROUNDS = 120
CLAIM = _SHARED | {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "max_depth": 8,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "lambda_l2": 5.0,
}
CLAIM_ROUNDS = 260


def fold_of(group: str, count: int, salt: str = "f") -> int:
    """The fold of a source document: all its rows share it."""
    return zlib.crc32(f"{salt}{group}".encode()) % count


@dataclass
class Fitted:
    """The models of one fit."""

    token: lgb.Booster
    claim: lgb.Booster
    mean: np.ndarray[Any, Any]
    scale: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]
    bias: float
    bar: float
    """What a RAG answer must reach to pass as a whole."""

    def claims(self, example: Example) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """How likely each claim is supported, and its full table."""
        doubt = self.token.predict(example.tokens) if len(example.tokens) else np.zeros(0)
        table = np.hstack([example.table, doubts(doubt, _bounds(example))])
        return self.claim.predict(table[:, _COLUMNS]), table

    def response(self, probability: np.ndarray[Any, Any], table: np.ndarray[Any, Any]) -> float:
        """How likely the whole response is supported."""
        return _whole(probability, table, (self.mean, self.scale, self.weights, self.bias))


Response = tuple[Any, Any, Any, float]
"""Mean, scale, weights and bias of the model of responses."""


def _whole(
    probability: np.ndarray[Any, Any], table: np.ndarray[Any, Any], model: Response
) -> float:
    mean, scale, weights, bias = model
    row = (response_features(probability, table) - mean) / scale
    return float(1 / (1 + np.exp(-(row @ weights + bias))))


_COLUMNS = [(*NAMES, *TAGGED).index(name) for name in CLAIM_NAMES]


def fit(examples: list[Example], inner: int = 4) -> Fitted:
    """Models from examples; what one model gives the next is predicted out of fold."""
    fold = np.array([fold_of(e.row["group"], inner, "inner") for e in examples])
    tables: list[np.ndarray[Any, Any]] = [np.empty(0)] * len(examples)
    for number in range(inner):
        token = _fit_token([e for e, f in zip(examples, fold, strict=True) if f != number])
        held = np.flatnonzero(fold == number)
        doubt = token.predict(np.vstack([examples[n].tokens for n in held]))
        at = 0
        for n in held:
            size = len(examples[n].tokens)
            tables[n] = np.hstack(
                [examples[n].table, doubts(doubt[at : at + size], _bounds(examples[n]))]
            )
            at += size
    labels = [np.array(e.labels) for e in examples]
    weakest = _out_of_fold(examples, tables, labels, fold, inner)
    for n, example in enumerate(
        examples
    ):  # of a false response without marks, the weakest claim is false
        if example.row["label"] == 0 and (labels[n] < 0).all():
            labels[n][int(np.argmin(weakest[n]))] = 0
    probabilities = _out_of_fold(examples, tables, labels, fold, inner)
    response = _fit_response(examples, probabilities, tables)
    bar = _choose_bar(examples, probabilities, tables, fold, inner)
    return Fitted(_fit_token(examples), _fit_claim(examples, tables, labels), *response, bar)


def _choose_bar(
    examples: list[Example],
    probabilities: list[np.ndarray[Any, Any]],
    tables: list[np.ndarray[Any, Any]],
    fold: np.ndarray[Any, Any],
    inner: int,
) -> float:
    """The bar with the best F1 + balanced accuracy on the RAG answers that were fitted, each predicted out of fold."""
    wrong, whole = [], []
    for number in range(inner):
        kept = np.flatnonzero(fold != number)
        model = _fit_response(
            [examples[n] for n in kept], [probabilities[n] for n in kept], [tables[n] for n in kept]
        )
        for n in np.flatnonzero(fold == number):
            row = examples[n].row
            if row["set"] == "ragtruth_test" and not row.get("synthetic"):
                wrong.append(1 - row["label"])
                whole.append((n, _whole(probabilities[n], tables[n], model)))
    found = []
    for bar in np.arange(0.4, 0.7, 0.01):
        said = [
            flagged(probabilities[n], chance, examples[n].conflicts, float(bar))
            for n, chance in whole
        ]
        found.append((f1(wrong, said) + balanced_accuracy(wrong, said), float(bar)))
    values = np.array([value for value, _ in found])
    smooth = np.convolve(np.pad(values, 2, "edge"), np.ones(5) / 5, "valid")  # one peak may be luck
    # of bars that are about as good the lowest: fewest answers blamed in vain
    return round(found[int(np.argmax(smooth >= smooth.max() - ABOUT_AS_GOOD))][1], 2)


def flagged(
    probability: np.ndarray[Any, Any], whole: float, conflicts: list[int], bar: float
) -> bool:
    """Whether the judge finds a claim that is not supported."""
    return not all(
        accepted(n, probability, whole, conflicts[n], bar) for n in range(len(probability))
    )


def _bounds(example: Example) -> list[int]:
    found: list[int] = np.searchsorted(example.owner, np.arange(len(example.claims) + 1)).tolist()
    return found


def _fit_token(examples: list[Example]) -> lgb.Booster:
    used = [e for e in examples if (e.marks >= 0).any()]
    rows = np.vstack([e.tokens for e in used])
    marks = np.concatenate([e.marks for e in used])
    weight = np.concatenate([np.full(len(e.marks), _token_weight(e.row)) for e in used])
    known = marks >= 0
    data = lgb.Dataset(
        rows[known], marks[known], weight=weight[known], feature_name=list(TAGGER_NAMES)
    )
    return lgb.train(TOKEN, data, TOKEN_ROUNDS)


def _token_weight(row: dict[str, Any]) -> float:
    if row.get("synthetic"):
        return 0.4
    return 1.0 if row["set"] in ("ragtruth_test", "summedits") else 0.5


def _fit_claim(
    examples: list[Example], tables: list[np.ndarray[Any, Any]], labels: list[np.ndarray[Any, Any]]
) -> lgb.Booster:
    rows = np.vstack(tables)[:, _COLUMNS]
    label = np.concatenate(labels)
    weight = _claim_weights(examples, label)
    known = label >= 0
    data = lgb.Dataset(
        rows[known], label[known], weight=weight[known], feature_name=list(CLAIM_NAMES)
    )
    return lgb.train(CLAIM, data, CLAIM_ROUNDS)


def _claim_weights(examples: list[Example], label: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sets count by the root of their size, and in each set both labels alike: no set's share of
    false claims leaks into the judgement of another's."""
    names = np.concatenate(
        [
            np.full(len(e.claims), f"{e.row['set']}{'+' if e.row.get('synthetic') else ''}")
            for e in examples
        ]
    )
    weight = np.zeros(len(label))
    for name in sorted(set(names.tolist())):
        size = np.sqrt(((names == name) & (label >= 0)).sum())
        for value in (0, 1):
            mine = (names == name) & (label == value)
            weight[mine] = size * _emphasis(name) / max(mine.sum(), 1)
    return weight * (label >= 0).sum() / weight.sum()


def _emphasis(name: str) -> float:
    """Answers of RAG systems are what the judge is for; they count threefold."""
    if name.endswith("+"):
        return SYNTHETIC
    return 3.0 if name == "ragtruth_test" else 1.0


def _out_of_fold(
    examples: list[Example],
    tables: list[np.ndarray[Any, Any]],
    labels: list[np.ndarray[Any, Any]],
    fold: np.ndarray[Any, Any],
    inner: int,
) -> list[np.ndarray[Any, Any]]:
    found: list[np.ndarray[Any, Any]] = [np.empty(0)] * len(examples)
    for number in range(inner):
        kept = np.flatnonzero(fold != number)
        claim = _fit_claim(
            [examples[n] for n in kept], [tables[n] for n in kept], [labels[n] for n in kept]
        )
        for n in np.flatnonzero(fold == number):
            found[n] = claim.predict(tables[n][:, _COLUMNS])
    return found


def _fit_response(
    examples: list[Example],
    probabilities: list[np.ndarray[Any, Any]],
    tables: list[np.ndarray[Any, Any]],
) -> tuple[Any, Any, Any, float]:
    """Logistic regression from claims to responses; each set of responses counts alike, RAG answers threefold."""
    kept = [
        n
        for n, e in enumerate(examples)
        if e.row["level"] == "response" and not e.row.get("synthetic")
    ]
    names = np.array([examples[n].row["set"] for n in kept])
    rows = np.array([response_features(probabilities[n], tables[n]) for n in kept], np.float64)
    label = np.array([examples[n].row["label"] for n in kept], np.float64)
    weight = np.zeros(len(kept))
    for name in sorted(set(names.tolist())):
        mine = names == name
        if name == "ragtruth_test":
            weight[mine] = RAG / mine.sum()  # its own share of false responses is the one to expect
        else:
            for value in (0, 1):
                weight[mine & (label == value)] = 0.5 / (mine & (label == value)).sum()
    weight *= len(kept) / weight.sum()
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    rows = (rows - mean) / scale

    def loss(theta: np.ndarray[Any, Any]) -> tuple[float, np.ndarray[Any, Any]]:
        margin = rows @ theta[:-1] + theta[-1]
        chance = 1 / (1 + np.exp(-margin))
        penalty = 5.0 * (theta[:-1] ** 2).sum()
        value = float((weight * (np.logaddexp(0, margin) - label * margin)).sum() + penalty)
        gap = weight * (chance - label)
        slope = np.r_[rows.T @ gap + 10.0 * theta[:-1], gap.sum()]
        return value, slope

    theta = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return mean, scale, np.round(theta[:-1], 6), float(np.round(theta[-1], 6))
