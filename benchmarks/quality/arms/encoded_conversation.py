"""Facts of one conversation on an engine, encoded and laid out as the product does it."""

from collections.abc import Sequence

from benchmarks.quality.arms.cases import ConversationCases
from benchmarks.quality.arms.setups import Order
from memory_engine.encoding.encoding_queue import EncodingQueue
from memory_engine.encoding.windows import Segmenter, Window
from memory_engine.engines.base import Engine
from memory_engine.errors import EngineError, SettingsError
from memory_engine.prompt.chat_tokenizer import ChatTokenizer
from memory_engine.prompt.layout import FixedSegments, Layout, memory_prefix
from memory_engine.types import Prompt, Recalled


class EncodedConversation:
    """All facts of a conversation, each encoded once behind its window; `drop` forgets them."""

    def __init__(
        self, engine: Engine, tokenizer: ChatTokenizer, conversation: ConversationCases, window: str
    ) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._owner = f"eval-{conversation.id}-{window}"
        fingerprint = engine.info.fingerprint
        prefix = memory_prefix(tokenizer)
        self._encoder = Segmenter(tokenizer, Window.parse(window), fingerprint, prefix)
        self._segments = self._encoder.segments(self._owner, conversation.facts)

    async def encode(self) -> None:
        """Make every fact resident. Raises EngineError if one is not in the end."""
        queue = EncodingQueue(self._engine, self._encoder)
        queue.want(self._owner, self._segments.values())
        await queue.settle()
        wanted = {segment.segment_id for segment in self._segments.values()}
        if missing := wanted - set(queue.resident(self._owner)):
            raise EngineError(
                f"{len(missing)} of {len(wanted)} facts found no room in the arena: "
                "set INFERSCALE_ARENA_MIB higher."
            )

    async def drop(self) -> None:
        """Forget the facts."""
        await self._engine.drop(self._owner)

    def prompt(
        self, question: str, recalled: Sequence[Recalled], order: Order, tail: int, room: int
    ) -> Prompt:
        """Lay out the prompt of a question with these facts, best first; `room` tokens for a reply.

        Raises SettingsError if it does not hold all of them.
        """
        most = self._engine.info.max_model_len
        segments = self._segments
        if order == "relevance":
            # The layout follows the order of the segments it is given.
            segments = {r.fact.id: segments[r.fact.id] for r in recalled}
        layout = Layout(self._tokenizer, self._encoder, FixedSegments(segments), most, tail)
        plan = layout.plan(self._owner, recalled, (), question, room)
        if plan.left_out:
            raise SettingsError(
                f"{len(recalled)} facts do not fit {most} tokens: set INFERSCALE_MAX_MODEL_LEN "
                "higher, or give a smaller --k."
            )
        return plan.prompt
