"""The listening socket: the port is taken before anything is loaded."""

import errno
import socket

from memory_engine.errors import PortTakenError, SettingsError

BACKLOG = 128


def bind(host: str, port: int) -> socket.socket:
    """Make a socket that holds the port: callers wait until somebody accepts.

    Raises PortTakenError, or SettingsError for a host or port that cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise SettingsError(f"INFERSCALE_HOST={host} cannot work: {error.strerror}.") from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _explained(error, host, port) from None
    return listener


def _explained(error: OSError, host: str, port: int) -> Exception:
    if error.errno == errno.EADDRINUSE:
        return PortTakenError(
            f"Another program listens on port {port}. Stop it, or choose another port with "
            f"--port (such as --port {port + 1 if port < 65535 else port - 1}) or INFERSCALE_PORT."
        )
    if error.errno == errno.EACCES:
        return SettingsError(
            f"INFERSCALE_PORT={port} cannot work: this user may not listen on it. "
            "Choose one above 1023 with --port."
        )
    return SettingsError(f"INFERSCALE_HOST={host} cannot work: {error.strerror}.")
