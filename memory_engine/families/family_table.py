"""The table of families that the conformance suite runs."""

from memory_engine.families.family import Family
from memory_engine.families.llamas import LLAMAS, MISTRALS, PHIS, QWENS
from memory_engine.families.other_families import CACHES, PARTIAL, PLAIN, POSITIONS
from memory_engine.families.sliding_windows import GEMMAS, NOPE

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
