"""Explanations of failed connections for whoever has to repair them."""

from __future__ import annotations

import errno
from collections.abc import Callable

from ragstone.judges.secrets import BaseUrl
from ragstone.locale.messages import compose


def explain_connection_error(
    error: Exception, base_url: BaseUrl, show: Callable[[str], str]
) -> str:
    """Explain a failed connection in one sentence: what happened and what to check; `show` redacts the words of others."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return compose("host_unknown", host=show(base_url.host))
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
        return compose("certificate_untrusted", host=show(base_url.host), why=show(str(why)))
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return compose("connection_not_secure", url=show(base_url.url))
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ConnectionRefusedError):
            return compose("nobody_answers", url=show(base_url.url))
        why = error.os_error.strerror or error.os_error
        return compose("host_unreachable", url=show(base_url.url), why=show(str(why)))
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionError) or (
        isinstance(error, OSError) and error.errno in (errno.ECONNRESET, errno.EPIPE)
    ):
        return compose("connection_closed", host=show(base_url.host))
    if isinstance(error, aiohttp.ClientPayloadError | EOFError):
        return compose("reply_broke_off", host=show(base_url.host))
    if isinstance(error, aiohttp.ClientResponseError):
        return compose("not_http", url=show(base_url.url))
    words = str(error)
    return show(f"{type(error).__name__}: {words}" if words else type(error).__name__)
