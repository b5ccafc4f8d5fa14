"""Types of the options of `inferscale plan`, each with its help text."""

from pathlib import Path
from typing import Annotated

from typer import Option

Number = int | None
Real = float | None

Model = Annotated[str, Option(help="A folder with a config.json, llama-8b or llama-70b.")]
RatesReport = Annotated[
    Path | None, Option(help="Rates: of `inferscale bench --json`. [8B on an H200]")
]

# Fields of FleetDemand.
Users = Annotated[Number, Option(help="All users. [1000000]")]
Facts = Annotated[Number, Option(help="Facts of a user. [50]")]
Tokens = Annotated[Number, Option(help="Tokens of a fact. [40]")]
K = Annotated[Number, Option(help="Facts that a reply recalls at most. [50]")]
Messages = Annotated[Real, Option(help="Messages of a user and day. [5]")]
ConversationLength = Annotated[Real, Option(help="Messages of a conversation. [5]")]
Pause = Annotated[Real, Option(help="Seconds between two of them. [60]")]
Zipf = Annotated[Real, Option(help="Exponent of users' activity, 0: equal. [0.6]")]
Learnt = Annotated[Real, Option(help="New facts a message. [0.2]")]
ReplyTokens = Annotated[Number, Option(help="Tokens of a reply. [128]")]
Engines = Annotated[Number, Option(help="Engines. [as many as are needed]")]
TensorParallel = Annotated[Number, Option(help="GPUs of an engine. [1]")]
Utilization = Annotated[Real, Option(help="How busy an engine may be. [0.7]")]
Store = Annotated[str | None, Option(help="How KV is stored: auto or fp8. [auto]")]
ArenaGib = Annotated[Real, Option(help="An engine's arena. [what the device has]")]
HostGib = Annotated[Real, Option(help="Host memory behind it. [half of all]")]
DiskGib = Annotated[Real, Option(help="Disk behind that, of an engine. [0]")]
DiskSpeed = Annotated[Real, Option(help="How fast it is read. [2]")]

# Fields of Scenario, and whether there is one.
Simulate = Annotated[
    bool, Option("--simulate", help="Then simulate it: users talk, an engine is lost.")
]
Hours = Annotated[Real, Option(help="Simulation: how long. [2]")]
WarmHours = Annotated[Real, Option(help="Hours before that fill the caches. [24]")]
ModeName = Annotated[str | None, Option(help="kv, or text without memory of KV. [kv]")]
Lose = Annotated[bool | None, Option("--lose/--no-lose", help="Lose an engine at half time. [yes]")]
Seed = Annotated[Number, Option(help="Of all that is random. [0]")]
