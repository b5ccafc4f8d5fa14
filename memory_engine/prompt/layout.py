"""Layout of the prompt: prefix, facts in time order, history, exact tail, question.

    [template][system text and memory header][facts] | [instructions][template][history]
    [template][tail: the most relevant or not resident facts][question][template]

What stands before the bar is injected in KV mode; the rest is always prefilled. Both modes
send the same token ids. The tail stands in the question's own message, where a small model
finds it (measured: DECISIONS.md).
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from memory_engine.encoding.windows import FactSegment, Segmenter
from memory_engine.errors import MessageTooLongError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.prompt_wording import FACTS_HEADER, SYSTEM, TAIL_END, fact_line
from memory_engine.types import Message, Plan, Prompt, Recalled, Span

# Of the room beside the question, history gets at most this share if facts need the rest.
_HISTORY_SHARE = 0.5
# One fact of so many may stand in the tail: of few facts, most are still injected.
_FACTS_A_TAIL_FACT = 3


def memory_prefix(tokenizer: ChatTokenizer) -> list[int]:
    """The ids every prompt with memories begins with."""
    return [*tokenizer.frame.start, *tokenizer.encode(SYSTEM + FACTS_HEADER)]


class Segments(Protocol):
    """The segments of facts, as a layout needs them; `FactEncoder` has them."""

    def segments(self, owner: str) -> Mapping[str, FactSegment]:
        """The segments of the owner's facts, by fact id, in time order."""
        ...

    def resident(self, owner: str) -> AbstractSet[str] | None:
        """Ids of the facts whose KV is at hand; None where the model is not injected."""
        ...


@dataclass(frozen=True, slots=True)
class FixedSegments:
    """The segments of one owner's facts that do not change; all of them at hand, or some."""

    by_fact: Mapping[str, FactSegment]
    at_hand: frozenset[str] | None = None

    def segments(self, owner: str) -> Mapping[str, FactSegment]:
        return self.by_fact

    def resident(self, owner: str) -> frozenset[str] | None:
        return self.at_hand


class Layout:
    """Lays out prompts for one model.

    encoder: names the prefix. segments: of the facts. max_model_len: of prompt and reply
    together, in tokens. tail: how many of the most relevant facts are sent as exact text.
    """

    def __init__(
        self,
        tokenizer: ChatTokenizer,
        encoder: Segmenter,
        segments: Segments,
        max_model_len: int,
        tail: int,
    ) -> None:
        self._tokenizer = tokenizer
        self._encoder = encoder
        self._segments = segments
        self._max_model_len = max_model_len
        self._tail = tail

    def plan(
        self,
        owner: str,
        recalled: Sequence[Recalled],
        history: Sequence[Message],
        question: str,
        max_tokens: int,
        *,
        instructions: str = "",
    ) -> Plan:
        """A plan for `question`; `recalled` best first, history oldest first.

        instructions: text for the system message, behind the facts. Facts without a segment,
        least relevant facts and oldest exchanges are left out, as far as the rest does not fit.
        Raises MessageTooLongError if the question alone does not.
        """
        segments = self._segments.segments(owner)
        recalled = [r for r in recalled if r.fact.id in segments]
        exchanges, pending = self._exchanges(history)
        question_ids = self._tokenizer.encode(f"{pending}{question}")
        told = self._tokenizer.encode(f"\n{instructions}") if instructions else ()
        room = self._room(len(question_ids) + len(told), max_tokens)
        lines = [self._tokenizer.encode(fact_line(r.fact)) for r in recalled]
        wanted = sum(map(len, lines))
        past = _newest(exchanges, max(int(room * _HISTORY_SHARE), room - wanted))
        room -= sum(map(len, past))
        kept = 0
        while kept < len(lines) and len(lines[kept]) <= room:
            room -= len(lines[kept])
            kept += 1
        body, tail = self._split(recalled[:kept], self._segments.resident(owner))
        left_out = len(recalled) - kept
        return self._assemble(owner, body, tail, segments, told, past, question_ids, left_out)

    def _room(self, question: int, max_tokens: int) -> int:
        frame = self._tokenizer.frame
        tail_end = len(self._tokenizer.encode(TAIL_END))
        fixed = len(self._encoder.prefix) + len(frame.system_to_user) + len(frame.user_to_reply)
        limit = self._max_model_len - max_tokens - fixed - tail_end
        if question > limit:
            raise MessageTooLongError(
                f"The message has {question} tokens; this model takes at most {limit} here "
                f"(context {self._max_model_len}, of which {max_tokens} are kept for the "
                "reply). Shorten the message or send it in parts."
            )
        return limit - question

    def _exchanges(self, history: Sequence[Message]) -> tuple[list[list[int]], str]:
        """Past exchanges as ids with the template behind each, and user text without a reply."""
        frame, exchanges, pending = self._tokenizer.frame, [], ""
        for message in history:
            if message.role == "user":
                pending += f"{message.content}\n\n"
            elif pending:
                said = self._tokenizer.encode(pending.removesuffix("\n\n"))
                replied = self._tokenizer.encode(message.content)
                exchanges.append(
                    [*said, *frame.user_to_assistant, *replied, *frame.assistant_to_user]
                )
                pending = ""
        return exchanges, pending

    def _split(
        self, kept: Sequence[Recalled], resident: Collection[str] | None
    ) -> tuple[list[Recalled], list[Recalled]]:
        """Facts for the injected body, in time order, and for the tail, most relevant last."""
        best = {r.fact.id for r in kept[: min(self._tail, len(kept) // _FACTS_A_TAIL_FACT)]}
        text = [
            r
            for r in kept
            if r.fact.id in best or (resident is not None and r.fact.id not in resident)
        ]
        chosen = {r.fact.id for r in text}
        return [r for r in kept if r.fact.id not in chosen], text[::-1]

    def _assemble(
        self,
        owner: str,
        body: list[Recalled],
        tail: list[Recalled],
        segments: Mapping[str, FactSegment],
        told: Sequence[int],
        past: list[list[int]],
        question: Sequence[int],
        left_out: int,
    ) -> Plan:
        frame, encode = self._tokenizer.frame, self._tokenizer.encode
        order = {fact_id: place for place, fact_id in enumerate(segments)}
        body = sorted(body, key=lambda r: order[r.fact.id])
        spans: list[Span] = []
        if body or tail:
            ids = list(self._encoder.prefix)
            spans.append(Span(self._encoder.prefix_id(owner), 0, len(ids)))
        else:
            ids = [*frame.start, *encode(SYSTEM)]
        for recalled in body:
            segment = segments[recalled.fact.id]
            end = len(ids) + len(segment.token_ids)
            spans.append(Span(segment.segment_id, len(ids), end))
            ids += segment.token_ids
        ids += told
        ids += frame.system_to_user
        for exchange in past:
            ids += exchange
        if tail:
            for recalled in tail:
                ids += encode(fact_line(recalled.fact))
            ids += encode(TAIL_END)
        ids += [*question, *frame.user_to_reply]
        injectable = frozenset(recalled.fact.id for recalled in body)
        return Plan(Prompt(owner, ids, tuple(spans)), (*body, *tail), injectable, left_out)


def _newest(exchanges: list[list[int]], budget: int) -> list[list[int]]:
    """As many of the newest exchanges as fit `budget` tokens, oldest first."""
    kept: list[list[int]] = []
    for exchange in reversed(exchanges):
        if len(exchange) > budget:
            break
        budget -= len(exchange)
        kept.insert(0, exchange)
    return kept
