"""Connections that failed, in words for somebody who has to mend them."""

from __future__ import annotations

import errno
from collections.abc import Callable

from ragstone.judges.secrets import BaseUrl
from ragstone.locale.messages import compose


def explain_connection_error(broken: Exception, place: BaseUrl, show: Callable[[str], str]) -> str:
    """A failed connection in one sentence: what was seen, and what to look at; `show` redacts what others wrote."""
    import aiohttp

    host, url = show(place.host), show(place.url)
    if isinstance(broken, aiohttp.ClientConnectorDNSError):
        return compose("host_unknown", host=host)
    if isinstance(broken, aiohttp.ClientConnectorCertificateError):
        why = getattr(broken.certificate_error, "verify_message", "") or broken.certificate_error
        return compose("certificate_untrusted", host=host, why=show(str(why)))
    if isinstance(broken, aiohttp.ClientConnectorSSLError):
        return compose("connection_not_secure", url=url)
    if isinstance(broken, aiohttp.ClientConnectorError):
        if isinstance(broken.os_error, ConnectionRefusedError):
            return compose("nobody_answers", url=url)
        why = broken.os_error.strerror or broken.os_error
        return compose("host_unreachable", url=url, why=show(str(why)))
    if isinstance(broken, aiohttp.ServerDisconnectedError | ConnectionError) or (
        isinstance(broken, OSError) and broken.errno in (errno.ECONNRESET, errno.EPIPE)
    ):
        return compose("connection_closed", host=host)
    if isinstance(broken, aiohttp.ClientPayloadError | EOFError):
        return compose("reply_broke_off", host=host)
    if isinstance(broken, aiohttp.ClientResponseError):
        return compose("not_http", url=url)
    words = str(broken)
    return show(f"{type(broken).__name__}: {words}" if words else type(broken).__name__)
