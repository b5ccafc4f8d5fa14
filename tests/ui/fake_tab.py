"""A browser tab without a browser: signs in, and causes events of the page over HTTP."""

import json
import secrets
from typing import Any

import httpx2

API = "/gradio_api"


class Tab:
    """A tab of the page at `url`; who signed in is who uses it."""

    def __init__(self, url: str, key: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        transport = httpx2.HTTPTransport(verify=False)
        self.http = httpx2.Client(base_url=url, headers=headers, timeout=30, transport=transport)
        self.hash = secrets.token_hex(5)

    def close(self) -> None:
        self.http.close()

    def sign_in(self, name: str, password: str) -> httpx2.Response:
        """Fill in the form."""
        return self.http.post("/sign-in", data={"name": name, "secret": password})

    def config(self) -> dict[str, Any]:
        """The page as the browser's program gets it."""
        found: dict[str, Any] = self.http.get("/config").raise_for_status().json()
        return found

    def cause(self, event: dict[str, Any], data: list[Any], clicked: object = None) -> str:
        """Cause an event, one of the config's dependencies; all that comes back, as it comes."""
        body = {
            "fn_index": event["id"],
            "data": data,
            "event_data": clicked,
            "session_hash": self.hash,
            "trigger_id": None,
        }
        if not event["queue"]:
            return self.http.post(f"{API}/run/predict", json=body).text
        joined = self.http.post(f"{API}/queue/join", json=body)
        if joined.status_code != 200:
            return joined.text
        told = ""
        with self.http.stream(
            "GET", f"{API}/queue/data", params={"session_hash": self.hash}
        ) as stream:
            for line in stream.iter_lines():
                told += line
                if line and json.loads(line.removeprefix("data: "))["msg"] == "process_completed":
                    return told
        return told
