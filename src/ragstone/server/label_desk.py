"""The open label sessions of a viewer."""

from __future__ import annotations

import threading
from collections import OrderedDict

from ragstone.labels import LabelSession, Target
from ragstone.store import StoredRun

MAX_SESSIONS = 8


class LabelDesk:
    """The open sessions: reading the units of a run takes long, so that they are kept between two labels."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, str, str, int], LabelSession] = OrderedDict()

    def open_session(self, run: StoredRun, target: Target, author: str) -> LabelSession:
        """The session of a person, with the labels as they now are; the caller holds the lock."""
        key = (run.id, target, author, run.count())
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = LabelSession(run, target, author)
        session.reload()
        self._sessions.move_to_end(key)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session
