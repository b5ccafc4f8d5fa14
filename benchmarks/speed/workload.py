"""Workload: the parameters of a benchmark, and sizes that suit a device."""

from dataclasses import dataclass

from memory_engine.errors import SettingsError

PREFIX_TOKENS = 32
QUESTION_TOKENS = 20
CHAT_REPLY_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Workload:
    """Parameters of a benchmark. The first three fields are always measured, the others on request.

    ks: numbers of facts. fact_tokens: tokens of every fact. repeats: measured turns of every
    arm. host_mib: host memory behind the arena, 0 for no such arm, None for as much as the
    facts need. fact_lengths: tokens a fact to sweep over. concurrency: requests in flight to
    sweep over, with `requests` of each of the `output_tokens`. load_k: facts of a request in
    those sweeps and of a chat while facts are encoded. encode_facts: how many facts to encode
    for the rate, `encode_run` in one prefill, with each number of runs in `encode_in_flight`,
    and `chat_requests` messages of a chat while as many are. bandwidth: whether to time the
    injection itself, on a GPU. tensor_parallel: GPUs to spread the model over.
    """

    ks: tuple[int, ...] = (0, 10, 50, 100)
    fact_tokens: int = 24
    repeats: int = 5
    host_mib: int | None = 0
    fact_lengths: tuple[int, ...] = ()
    concurrency: tuple[int, ...] = ()
    requests: int = 128
    output_tokens: tuple[int, ...] = (32,)
    load_k: int = 50
    encode_facts: int = 0
    encode_run: int = 16
    encode_in_flight: tuple[int, ...] = (4,)
    chat_requests: int = 100
    bandwidth: bool = False
    tensor_parallel: int = 1

    def __post_init__(self) -> None:
        if not self.ks or min(self.ks) < 0:
            raise SettingsError(f"--k {self.ks} cannot work: give numbers of 0 or more.")
        if self.host_mib is not None and self.host_mib < 0:
            raise SettingsError("--host-mib must be 0 or more.")
        if self.encode_facts < 0:
            raise SettingsError("--encode-facts must be 0 or more.")
        positive = {
            "--fact-tokens": (self.fact_tokens,),
            "--repeats": (self.repeats,),
            "--fact-lengths": self.fact_lengths,
            "--concurrency": self.concurrency,
            "--requests": (self.requests,),
            "--output-tokens": self.output_tokens,
            "--load-k": (self.load_k,),
            "--encode-run": (self.encode_run,),
            "--encode-in-flight": self.encode_in_flight,
            "--chat-requests": (self.chat_requests,),
            "--tensor-parallel": (self.tensor_parallel,),
        }
        for option, values in positive.items():
            if any(value < 1 for value in values):
                raise SettingsError(f"{option} must be 1 or more.")
        # A reply of no length is no reply; the sweeps over nothing are left out instead.
        if not self.output_tokens or not self.encode_in_flight:
            raise SettingsError("--output-tokens and --encode-in-flight need a number.")

    @property
    def facts(self) -> int:
        """Facts to keep: enough for every k, and for requests that differ under load."""
        under_load = 2 * self.load_k if self.concurrency else 0
        chatting = self.load_k if self.encode_facts else 0
        return max(*self.ks, under_load, chatting, 0)

    @property
    def longest(self) -> tuple[int, int]:
        """Facts, and tokens of each, of the longest prompt."""
        shapes = [(k, self.fact_tokens) for k in self.ks]
        if self.concurrency or self.encode_facts:
            shapes.append((self.load_k, self.fact_tokens))
        shapes += [(self.load_k, length) for length in self.fact_lengths]
        return max(shapes, key=lambda shape: shape[0] * shape[1])

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        k, length = self.longest
        return prompt_tokens(k, length)

    @property
    def longest_reply(self) -> int:
        """Tokens of the longest reply."""
        chatting = CHAT_REPLY_TOKENS if self.encode_facts else 1
        return max([chatting, *(self.output_tokens if self.concurrency else ())])

    @property
    def tokens_needed(self) -> int:
        """Tokens to cut the prompts and the facts of every part from."""
        swept = (self.load_k, max(self.fact_lengths, default=0))
        encoded = (self.encode_facts, self.fact_tokens)
        shapes = ((self.facts, self.fact_tokens), swept, encoded)
        return max(prompt_tokens(*shape) for shape in shapes)

    @property
    def held_tokens(self) -> int:
        """Tokens of all segments that the arena holds at once."""
        # The fact that is encoded alone adds its prefix, and so does every run in flight.
        prefixes = (2 + max(self.encode_in_flight)) * PREFIX_TOKENS
        encoded = self.encode_facts * self.fact_tokens + prefixes
        return max(self.host_tokens, self.facts * self.fact_tokens + encoded)

    @property
    def host_tokens(self) -> int:
        """Tokens of the segments that are demoted: host memory is measured with them."""
        swept = self.load_k * sum(self.fact_lengths)
        prefixes = (1 + len(self.fact_lengths)) * PREFIX_TOKENS
        return self.facts * self.fact_tokens + swept + prefixes


def prompt_tokens(k: int, fact_tokens: int) -> int:
    """Count the tokens of a prompt with `k` facts of `fact_tokens` each."""
    return PREFIX_TOKENS + k * fact_tokens + QUESTION_TOKENS


QUICK = Workload()
# About five minutes for an 8B model on an H200, of which one to start.
FULL_GPU = Workload(
    ks=(0, 10, 50, 100, 200, 500),
    fact_tokens=40,
    repeats=10,
    host_mib=None,
    fact_lengths=(10, 20, 40, 80),
    concurrency=(1, 8, 32, 128),
    output_tokens=(1, 32),
    encode_facts=1024,
    encode_in_flight=(1, 4, 16),
    chat_requests=50,
    bandwidth=True,
)
FULL_CPU = Workload(
    ks=(0, 5, 10, 20, 50),
    repeats=3,
    host_mib=None,
    fact_lengths=(10, 20),
    concurrency=(1, 4),
    requests=8,
    output_tokens=(1, 8),
    load_k=10,
    encode_facts=32,
    encode_in_flight=(1,),
    chat_requests=10,
)
