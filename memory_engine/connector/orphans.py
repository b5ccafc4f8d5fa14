"""End of an engine process together with its parent, however that one ended."""

import os
import signal
import threading
import time

_INTERVAL = 1.0  # seconds


def end_with_parent() -> None:
    """Ask this process to stop once its parent is gone; vLLM then stops its workers.

    vLLM's engine core waits for requests for ever after a kill -9 of its parent, holding
    the model's memory.
    """
    parent = os.getppid()
    threading.Thread(target=_watch, args=(parent,), name="end-with-parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os.kill(os.getpid(), signal.SIGTERM)
