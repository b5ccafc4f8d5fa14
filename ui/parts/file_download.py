"""Files made in the browser: what is exported is not written on the server."""

import json

# Gradio runs it with the value of the part "download".
SAVE = """
(wanted) => {
  if (!wanted) return;
  const {name, type, text} = JSON.parse(wanted);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
"""


def as_download(name: str, kind: str, text: str) -> str:
    """The JSON that `SAVE` turns into a file; `kind` is its media type."""
    return json.dumps({"name": name, "type": kind, "text": text})
