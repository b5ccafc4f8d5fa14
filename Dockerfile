# syntax=docker/dockerfile:1
# InferScale in a container: `docker build .` for the CPU, `docker build --target cuda .` for an
# NVIDIA GPU, whose driver the container runtime lends. Both need x86-64.

# What runs in the end: Debian's Python 3.11, and a compiler, for vLLM compiles its kernels when
# the model loads. Debian keeps one version of a package per release: pinning that would break.
FROM debian:12.11-slim AS base
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates g++ libnuma1 python3 python3-dev \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --home-dir /var/lib/inferscale --create-home inferscale
WORKDIR /srv/inferscale
# Port 7860 is open to whoever reaches it, so people sign in: `inferscale accounts add NAME`.
ENV PATH=/srv/inferscale/.venv/bin:$PATH \
  PYTHONUNBUFFERED=1 \
  INFERSCALE_DATA_DIR=/var/lib/inferscale \
  INFERSCALE_HOST=0.0.0.0 \
  INFERSCALE_AUTH=accounts
# Database, prepared models, KV snapshots, and what vLLM compiled.
VOLUME /var/lib/inferscale
EXPOSE 7860
# The first start prepares the bundled model and compiles.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5m --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('INFERSCALE_PORT', '7860') + '/healthz', timeout=4)"]
CMD ["/bin/sh", "-c", "inferscale migrate && exec inferscale serve"]

FROM base AS builder
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3-venv \
  && rm -rf /var/lib/apt/lists/* \
  && python3 -m venv /usr/local/lib/uv \
  && /usr/local/lib/uv/bin/python -m pip install --no-cache-dir uv==0.13.9 \
  && python3 -m venv .venv
ENV UV_NO_CACHE=1 UV_LINK_MODE=copy

FROM builder AS packages-cpu
COPY requirements/cpu.txt requirements/
# torch's CPU build is not on PyPI.
ARG PYTORCH_CPU_INDEX=https://download.pytorch.org/whl/cpu
RUN install="/usr/local/lib/uv/bin/uv pip install --python .venv/bin/python --no-deps" \
  && $install --default-index "$PYTORCH_CPU_INDEX" "$(grep -o '^torch==[^ ]*' requirements/cpu.txt)" \
  && $install -r requirements/cpu.txt

FROM builder AS packages-cuda
COPY requirements/gpu.txt requirements/
RUN /usr/local/lib/uv/bin/uv pip install --python .venv/bin/python --no-deps -r requirements/gpu.txt

FROM base AS cuda
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=packages-cuda /srv/inferscale/.venv .venv
COPY . .
RUN python -m pip install --no-cache-dir --no-deps --no-index --no-build-isolation --editable .
USER 10001

FROM base AS cpu
COPY --from=packages-cpu /srv/inferscale/.venv .venv
COPY . .
RUN python -m pip install --no-cache-dir --no-deps --no-index --no-build-isolation --editable .
USER 10001
