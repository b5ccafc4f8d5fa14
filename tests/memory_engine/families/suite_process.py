"""A process that runs the suite, then again with mistakes: one JSON line a finding.

vLLM runs in it, which changes a process too much for the others' tests.
"""

import asyncio
import json
import sys

from memory_engine.families.conformance_suite import examine
from memory_engine.families.family import Family
from memory_engine.families.family_table import FAMILIES
from tests.memory_engine.families.planted_mistakes import SABOTAGES


async def main() -> None:
    for family in FAMILIES:
        await _tell("", family)
    for sabotage in SABOTAGES:
        family = next(f for f in FAMILIES if f.name == sabotage.family)
        with sabotage.patch:
            await _tell(sabotage.name, family)


async def _tell(sabotage: str, family: Family) -> None:
    finding = await examine(family)
    print(json.dumps({"sabotage": sabotage, **finding.as_json()}), flush=True)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
