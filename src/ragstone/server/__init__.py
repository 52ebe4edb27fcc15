"""The monitor's server: interactions, feedback and traces in over HTTP; figures out."""

from ragstone.server.app import Part, make_app, serve
from ragstone.server.settings import ServerSettings

__all__ = ["Part", "ServerSettings", "make_app", "serve"]
