"""What every HTML page is made of: the files beside it, filled in with everything escaped, and allowed by their hash."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from ragstone.report.files import encoded


def policy(style: str, script: str = "") -> str:
    """A Content-Security-Policy under which the page loads nothing and runs only what it was written with."""
    scripts = hashed(script) if script else "'none'"
    return (
        f"default-src 'none'; style-src {hashed(style)}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def hashed(text: str) -> str:
    """A text by its hash, as a policy names it."""
    digest = hashlib.sha256(encoded(text)).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def resource(name: str) -> str:
    """A file of the templates folder."""
    from importlib.resources import files

    return files("ragstone.report").joinpath("templates", name).read_text(encoding="utf-8")


def template(name: str) -> Any:
    """A template that escapes everything and knows no undefined name."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(resource), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template(name)
