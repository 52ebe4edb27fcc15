"""The coordinator of a run on a cluster, in the driver's process: workers fetch the job from it, and share replies, budget and rate limit through it.

There is one for all workers, so that a reply is paid for once, a budget is spent once and a rate limit holds whatever
the number of workers. It speaks Dask's protocol; its connections are encrypted, with certificates on both sides,
whenever those of the cluster are. Every call must also show the token of the run."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import Any

from ragstone.asks import Reply
from ragstone.errors import OutOfBudget
from ragstone.judges.limits import Budget
from ragstone.locale.messages import message_to_json
from ragstone.scale.jobs import WorkerJob
from ragstone.store import Store
from ragstone.store.replies import decode_reply, encode_reply
from ragstone.types import Usage

CLAIM_WAIT_SECONDS = 5.0
"""How long a worker waits for another worker's call before it asks the coordinator again."""
LIVENESS_CHECK_SECONDS = 0.25
"""Between two checks whether that other worker is still alive."""

YOURS, BUSY, KNOWN = "yours", "busy", "known"
"""What a worker is told about a question: ask it yourself; another worker is asking it; here is the reply."""


class Coordinator:
    """Serves the workers of one run from the driver's event loop."""

    def __init__(
        self, job: WorkerJob, store: Store, judge: str, budget: Budget, alive: Callable[[], Collection[str]]
    ) -> None:  # fmt: skip
        self.token = secrets.token_hex(16)
        self._job = job
        self._store = store
        self._judge = judge
        self._budget = budget
        self._list_alive = alive  # addresses of the workers that are alive now
        self._seen_alive: frozenset[str] = frozenset()
        """Addresses of the workers that were alive at some time."""
        self._claims: dict[str, tuple[str, asyncio.Event]] = {}
        """Key of a question in flight → the worker that asks it, and the event that it is done."""
        self._server: Any = None

    @property
    def address(self) -> str:
        """Where workers reach it."""
        return str(self._server.address)

    async def open(self, host: str, protocol: str, security: Any) -> None:
        """Listen on a free port of this host, by the protocol that the cluster speaks."""
        from distributed.core import Server

        # the names are the wire protocol, which `CoordinatorClient` calls; driver and workers have
        # the same version
        handlers = {
            "hello": self._send_job,
            "claim": self._claim_questions,
            "wait": self._wait_for_worker,
            "keep": self._store_replies,
            "permit": self._permit_calls,
            "settle": self._settle_calls,
        }
        self._server = Server(
            # msgpack only: pickle would let whoever connects run code here
            handlers,
            serializers=["msgpack"],
            deserializers=["msgpack"],
            needs_workdir=False,
        )
        # "client": the driver is a client of the cluster, so the certificates it has for sure are a
        # client's
        arguments = security.get_listen_args("client") if protocol == "tls" else {}
        await self._server.listen(f"{protocol}://{host}:0", **arguments)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            await self._server.close()

    def _check_token(self, token: str) -> None:
        if not secrets.compare_digest(token, self.token):
            raise PermissionError("not a worker of this run")

    async def _send_job(self, token: str) -> dict[str, Any]:
        self._check_token(token)
        return self._job.to_json()

    async def _claim_questions(
        self, token: str, worker: str, keys: Sequence[str]
    ) -> list[list[Any]]:
        """For each question, a list for the wire: [KNOWN, reply, usage], [BUSY] or [YOURS]."""
        self._check_token(token)
        known = self._store.replies(list(dict.fromkeys(keys)), self._job.run)
        return [self._claim_key(worker, key, known.get(key)) for key in keys]

    def _claim_key(self, worker: str, key: str, reply: Reply | None) -> list[Any]:
        if reply is not None:
            # the order in which `SharedJudge` reads it
            return [KNOWN, encode_reply(reply), list(astuple(reply.usage))]
        # the first worker to ask owns the question until it keeps a reply, fails or dies
        claim = self._claims.setdefault(key, (worker, asyncio.Event()))
        return [YOURS] if claim[0] == worker else [BUSY]

    async def _wait_for_worker(self, token: str, worker: str, key: str) -> list[Any]:
        """What `_claim_questions` says of one question that another worker asks, after waiting for that worker."""
        self._check_token(token)
        if key in self._claims:
            asking, over = self._claims[key]
            for _ in range(int(CLAIM_WAIT_SECONDS / LIVENESS_CHECK_SECONDS)):
                alive = self._list_alive()
                self._seen_alive = self._seen_alive.union(alive)
                # a worker that is gone will never answer; one that has just joined is not in the list yet
                if asking in self._seen_alive and asking not in alive:
                    self._release_claim(key, asking)
                if over.is_set():
                    break
                with suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), LIVENESS_CHECK_SECONDS)
            if not over.is_set() and asking not in self._list_alive():
                self._release_claim(key, asking)
        return (await self._claim_questions(token, worker, [key]))[0]

    def _release_claim(self, key: str, worker: str) -> None:
        claim = self._claims.get(key)
        if claim is not None and claim[0] == worker:
            del self._claims[key]
            claim[1].set()

    async def _store_replies(
        self, token: str, worker: str, rows: Sequence[Sequence[Any]], asked: Sequence[str]
    ) -> None:
        """Store replies, also paid ones that are unusable, before anyone reads them; then release the claims."""
        self._check_token(token)
        replies = [
            (key, kind, decode_reply(text, Usage(*usage))) for key, kind, text, usage in rows
        ]
        try:
            saved = self._store.save_replies(replies, run=self._job.run, judge=self._judge)
            if saved is not None:
                await asyncio.wrap_future(saved)
        finally:
            # also when storing failed: a claim that stays would make others wait for ever
            for key in asked:
                self._release_claim(key, worker)

    async def _permit_calls(self, token: str, estimates: Sequence[float]) -> list[dict[str, Any]]:
        """For each call: {"wait": seconds until it may be made}, or {"refused": why it may not}."""
        self._check_token(token)
        return [self._permit_call(estimate) for estimate in estimates]

    def _permit_call(self, estimate: float) -> dict[str, Any]:
        try:
            self._budget.reserve(estimate)
        except OutOfBudget as spent:
            return {"refused": message_to_json(spent.reason)}
        return {"wait": self._budget.next_turn_seconds()}

    async def _settle_calls(self, token: str, bills: Sequence[Sequence[float]]) -> None:
        """Replace the estimates of calls by what they really cost."""
        self._check_token(token)
        for estimate, usd in bills:
            self._budget.settle(estimate, Usage(usd=usd))
