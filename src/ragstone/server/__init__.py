"""The monitor's server: interactions, feedback and traces in over HTTP; figures out."""

from ragstone.server.app import Part, make_app, serve
from ragstone.server.settings import Settings

__all__ = ["Part", "Settings", "make_app", "serve"]
