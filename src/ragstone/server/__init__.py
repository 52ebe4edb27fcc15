"""HTTP server of the monitor: ingests interactions, feedback and traces; serves statistics and a live page."""

from ragstone.server.app import BackgroundWorker, make_app, serve
from ragstone.server.settings import ServerSettings

__all__ = ["BackgroundWorker", "ServerSettings", "make_app", "serve"]
