"""Prints how many seconds a verification takes if all addresses of the host are silent, and if the last one refuses the connection."""

import socket
import sys
import time

sys.path.insert(0, sys.argv[1])
import onecode  # noqa: E402

LIMIT_SECONDS = 0.9


def silent_address():
    """Returns the address of a listener with a full backlog, which responds to no connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = [listener]
    for _ in range(3):
        waiting.append(socket.socket())
        waiting[-1].setblocking(False)
        waiting[-1].connect_ex(listener.getsockname())
    kept.append(waiting)
    return listener.getsockname()


def closed_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()


def seconds_of_verify(addresses):
    resolve = socket.getaddrinfo
    found = [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address) for address in addresses]
    socket.getaddrinfo = lambda host, *given, **named: found if host == "127.9.9.9" else resolve(host, *given, **named)
    client = onecode.Onecode("http://127.9.9.9", "ak_test_x", timeout_seconds=LIMIT_SECONDS)
    started = time.monotonic()
    try:
        client.verify("id", "123456")
    except onecode.ConnectionError:
        pass  # Nothing was sent. Any other error ends this program.
    socket.getaddrinfo = resolve
    return time.monotonic() - started


kept = []
print(seconds_of_verify([silent_address(), silent_address(), silent_address()]))
print(seconds_of_verify([silent_address(), silent_address(), closed_address()]))
