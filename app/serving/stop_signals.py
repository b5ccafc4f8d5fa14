"""Signals that stop the server: SIGINT and SIGTERM."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on the loop at SIGINT and SIGTERM.

    SIGINT is blocked and waited for in a thread of its own: a terminal sends Ctrl-C to the
    engine's process too, which inherits the block and so lives until we have drained.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    finished = threading.Event()

    def wait() -> None:
        while not finished.is_set():
            if signal.sigtimedwait({signal.SIGINT}, 0.2) is not None:
                loop.call_soon_threadsafe(stop)

    waiter = threading.Thread(target=wait, name="ctrl-c", daemon=True)
    waiter.start()
    try:
        yield
    finally:
        finished.set()
        waiter.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        loop.remove_signal_handler(signal.SIGTERM)
