"""Tokenizes text piece by piece: the chat template's parts, and user text that stays text."""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from memory_engine.errors import ModelNotFoundError

# Plain words no template treats specially, to cut a rendered template at its contents.
_MARKS = ("qsystemq", "quseroneq", "qassistantq", "qusertwoq")


class ChatFrame(NamedTuple):
    """The template's own tokens around and between the contents of a conversation."""

    start: list[int]
    system_to_user: list[int]
    user_to_assistant: list[int]
    assistant_to_user: list[int]
    user_to_reply: list[int]


class ChatTokenizer:
    """A model's tokenizer, for splicing prompts out of separately tokenised pieces.

    model: a local folder or a hub id. Joined text is never tokenised again, so a piece
    has the same ids wherever it stands. Raises ModelNotFoundError if there is none.
    """

    def __init__(self, model: str | Path) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(model))
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(
                f"No tokenizer was found in {model}: name a folder or a hub id of a chat "
                f"model in INFERSCALE_MODEL. ({error})"
            ) from error
        self.frame = self._frame()
        self.encode = lru_cache(maxsize=1 << 16)(self._encode)

    def decode(self, token_ids: list[int]) -> str:
        """The text of token ids, control tokens shown."""
        return str(self._tokenizer.decode(token_ids))

    def _encode(self, text: str) -> tuple[int, ...]:
        """Ids of user text; what looks like a control token is tokenised as plain text."""
        return tuple(
            self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        )

    def _frame(self) -> ChatFrame:
        text, pieces = self._render(), []
        for mark in _MARKS:
            before, found, text = text.partition(mark)
            if not found:
                raise ModelNotFoundError(
                    "The model's chat template leaves out parts of a conversation; choose "
                    "another model in INFERSCALE_MODEL."
                )
            pieces.append(before)
        return ChatFrame(*(self._control(piece) for piece in (*pieces, text)))

    def _render(self) -> str:
        system, one, reply, two = _MARKS
        turns = [("user", one), ("assistant", reply), ("user", two)]
        if self._tokenizer.chat_template is None:
            body = "\n\n".join(f"{role.title()}: {text}" for role, text in turns)
            return f"{system}\n\n{body}\n\nAssistant:"
        messages = [{"role": role, "content": text} for role, text in turns]
        rendered = self._apply([{"role": "system", "content": system}, *messages])
        if rendered is None or system not in rendered:
            # A template without a system role: the first user message carries it.
            messages[0]["content"] = f"{system}\n\n{one}"
            rendered = self._apply(messages)
        return rendered or ""

    def _apply(self, messages: list[dict[str, str]]) -> str | None:
        from jinja2 import TemplateError

        try:
            return str(
                self._tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            )
        except TemplateError:
            return None

    def _control(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])
