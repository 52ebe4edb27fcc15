"""The monitor's server: interactions, feedback and traces in over HTTP; figures out."""

from ragstone.server.app import BackgroundWorker, make_app, serve
from ragstone.server.settings import ServerSettings

__all__ = ["BackgroundWorker", "ServerSettings", "make_app", "serve"]
