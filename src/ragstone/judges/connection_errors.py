"""Explanations of failed connections for whoever has to repair them."""

from __future__ import annotations

import errno

from ragstone.judges.secrets import BaseUrl


def explain_connection_error(error: Exception, base_url: BaseUrl) -> str:
    """Explain a failed connection in one sentence: what happened and what to check."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host {base_url.host!r} is not known; check base_url and the network"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
        return f"the certificate of {base_url.host} is not trusted ({why}); name your own in SSL_CERT_FILE"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return f"no secure connection to {base_url.url}; does it speak http:// instead of https://?"
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ConnectionRefusedError):
            return f"nobody answers at {base_url.url}; is the server running?"
        return f"{base_url.url} cannot be reached: {error.os_error.strerror or error.os_error}"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionError) or (
        isinstance(error, OSError) and error.errno in (errno.ECONNRESET, errno.EPIPE)
    ):
        return f"{base_url.host} closed the connection without a reply"
    if isinstance(error, aiohttp.ClientPayloadError | EOFError):
        return f"the reply of {base_url.host} broke off"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"what listens at {base_url.url} does not speak HTTP"
    words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
