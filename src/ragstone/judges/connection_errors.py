"""Connections that failed, in words for somebody who has to mend them."""

from __future__ import annotations

import errno

from ragstone.judges.secrets import BaseUrl


def explain_connection_error(broken: Exception, place: BaseUrl) -> str:
    """A failed connection in one sentence: what was seen, and what to look at."""
    import aiohttp

    if isinstance(broken, aiohttp.ClientConnectorDNSError):
        return f"the host {place.host!r} is not known; check base_url and the network"
    if isinstance(broken, aiohttp.ClientConnectorCertificateError):
        why = getattr(broken.certificate_error, "verify_message", "") or broken.certificate_error
        return f"the certificate of {place.host} is not trusted ({why}); name your own in SSL_CERT_FILE"
    if isinstance(broken, aiohttp.ClientConnectorSSLError):
        return f"no secure connection to {place.url}; does it speak http:// instead of https://?"
    if isinstance(broken, aiohttp.ClientConnectorError):
        if isinstance(broken.os_error, ConnectionRefusedError):
            return f"nobody answers at {place.url}; is the server running?"
        return f"{place.url} cannot be reached: {broken.os_error.strerror or broken.os_error}"
    if isinstance(broken, aiohttp.ServerDisconnectedError | ConnectionError) or (
        isinstance(broken, OSError) and broken.errno in (errno.ECONNRESET, errno.EPIPE)
    ):
        return f"{place.host} closed the connection without a reply"
    if isinstance(broken, aiohttp.ClientPayloadError | EOFError):
        return f"the reply of {place.host} broke off"
    if isinstance(broken, aiohttp.ClientResponseError):
        return f"what listens at {place.url} does not speak HTTP"
    words = str(broken)
    return f"{type(broken).__name__}: {words}" if words else type(broken).__name__
