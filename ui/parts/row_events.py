"""Events of the buttons inside a list: the row, the action, and the text typed beside it."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

# A click on a button with an id inside the HTML reaches Python as an event with that id. What
# was drawn to be typed into gets the focus, because the click's own button is gone by then; but
# nobody's who types elsewhere. Gradio changes what is drawn in place, and a box that was typed
# into does not follow by itself.
ON_CLICK = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-id]');
  if (!button) return;
  const typed = button.closest('li')?.querySelector('textarea, input');
  trigger('click', {...button.dataset, text: typed ? typed.value : ''});
});
element.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !event.target.matches('input, textarea')) return;
  event.preventDefault();
  event.target.closest('li').querySelector('button[data-default]')?.click();
});
new MutationObserver((changes) => {
  for (const {target, attributeName} of changes) {
    if (attributeName === 'data-focus') continue;
    const box = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target);
    if (box?.matches('textarea, input')) box.value = box.defaultValue;
  }
  const wanted = element.querySelector('[data-focus]');
  if (!wanted) return;
  wanted.removeAttribute('data-focus');
  const focused = document.activeElement;
  if (focused === document.body || element.contains(focused)) wanted.focus();
}).observe(element, {
  childList: true, subtree: true, characterData: true,
  attributes: true, attributeFilter: ['value', 'data-focus'],
});
"""


@dataclass(frozen=True)
class Click:
    """A click on a row of a list. `act` is what to do, empty for opening the row."""

    id: str
    act: str = ""
    text: str = ""


def clicked(event: gr.EventData) -> dict[str, Any]:
    """The click in an event, as plain values that a gr.State keeps."""
    data = event._data
    return {name: str(data.get(name) or "") for name in ("id", "act", "text")}
