"""Secret words: each is of one user, and no text has it by chance."""

import re

_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
_WORDS = len(_SYLLABLES) ** 3
_STEP = 104_729  # a prime, so that neighbours look different and none comes twice


class SecretWords:
    """Gives out words of six letters, and knows whose each is."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}

    def new(self, owner: str) -> str:
        """A word that nobody has yet."""
        assert len(self._owners) < _WORDS, "no word is left"
        number = (len(self._owners) + 1) * _STEP % _WORDS
        base = len(_SYLLABLES)
        parts = number // base**2, number // base % base, number % base
        word = "".join(_SYLLABLES[part] for part in parts).capitalize()
        self._owners[word] = owner
        return word

    def of_others(self, text: str, owner: str) -> list[str]:
        """The words in `text` that are another user's."""
        found = re.findall(r"[A-Za-z]+", text)
        return [word for word in found if self._owners.get(word.capitalize(), owner) != owner]
