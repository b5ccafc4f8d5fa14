"""vLLM's Prometheus counts, taken after a token is passed on and not before."""

import asyncio
from functools import partial
from typing import Any

from vllm.v1.metrics.loggers import PrometheusStatLogger


class DeferredCounts(PrometheusStatLogger):
    """vLLM's own counts. It takes them on the event loop between a token's arrival and whoever
    waits for it; here they are what the loop does next, and a failure is the loop's to report.
    """

    def record(self, *args: Any, **kwargs: Any) -> None:
        asyncio.get_running_loop().call_soon(partial(super().record, *args, **kwargs))
