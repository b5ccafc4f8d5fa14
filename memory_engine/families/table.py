"""The table of families that the conformance suite runs."""

from memory_engine.families.family import Family
from memory_engine.families.llamas import LLAMAS, MISTRALS, PHIS, QWENS
from memory_engine.families.others import CACHES, PARTIAL, PLAIN, POSITIONS
from memory_engine.families.windows import GEMMAS, NOPE

FAMILIES: tuple[Family, ...] = (
    *LLAMAS,
    *QWENS,
    *MISTRALS,
    *PHIS,
    *GEMMAS,
    *PARTIAL,
    *PLAIN,
    *NOPE,
    *POSITIONS,
    *CACHES,
)
