"""Filters for text that is never remembered: secrets, and instructions to the assistant."""

import re
from typing import Literal

Reason = Literal["secret", "instruction"]

NAMED_SECRET = re.compile(
    r"""\b(?:
        pass(?:word|phrase|code|wd)s? | pin(?:\s+(?:code|number))? | passport\s+number | cvv | cvc
      | api[\s_-]?keys? | (?:access|auth|bearer|secret|private|recovery|security)[\s_-]?
        (?:tokens?|keys?|codes?|phrases?) | seed\s+phrase | client[\s_-]?secret
      | social\s+security(?:\s+number)? | ssn | (?:credit|debit|bank)\s+card(?:\s+number)?
      | login\s+(?:is|code|data) | (?:iban|routing|account|social\s+insurance)\s+(?:number|no\.?)
      | one[\s-]time\s+(?:code|pin) | (?:2fa|otp|mfa|verification|backup)\s+codes?
      | (?:ssh|gpg|pgp|encryption|licen[cs]e|master|wallet)\s+keys? | safe\s+(?:code|combination)
      | combination\s+(?:to|of|for)\s+(?:my|the|our)\s+(?:safe|lock)
      | (?:my|the|our)\s+(?:\w+\s+)?(?:pw|pwd)
      | (?:kenn|pass)w(?:ort|\u00f6rter) | zugangsdaten | mot\s+de\s+passe | contrase\u00f1as?
      | senha | parola\s+d'ordine | wachtwoord | has\u0142o | \u043f\u0430\u0440\u043e\u043b\u044c
    )\b
    | \u5bc6\u7801 | \u5bc6\u78bc | \u53e3\u4ee4 | \u9a8c\u8bc1\u7801
    | \u30d1\u30b9\u30ef\u30fc\u30c9 | \ube44\ubc00\ubc88\ud638""",
    re.IGNORECASE | re.VERBOSE,
)
KEY_SHAPES = re.compile(
    r"""(?:
        \b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}
      | \bAKIA[0-9A-Z]{16}\b
      | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,} | \bglpat-[\w-]{16,}
      | \bxox[abprs]-[\w-]{10,} | \bhf_[A-Za-z0-9]{20,} | \bAIza[\w-]{30,}
      | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}
      | -----BEGIN[ A-Z]*PRIVATE\ KEY-----
      | \b\d{3}-\d{2}-\d{4}\b | \b[A-Z]{2}\d{2}(?:\ ?[A-Z0-9]{4}){3,7}(?:\ ?[A-Z0-9]{1,3})?\b
      | :// [^\s/:@]+ : [^\s/@]+ @
    )""",
    re.VERBOSE,
)
LONG_TOKEN = re.compile(r"(?<![\w/.-])[A-Za-z0-9+/_=-]{24,}(?![\w/-]|\.\w)")
CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")

INSTRUCTION = re.compile(
    r"""\b(?:
        from\s+now\s+on | in\s+(?:the\s+)?future,?\s+(?:always|never|please|you)
      | (?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}
        (?:instructions?|rules?|prompts?|messages?|everything|guidelines)
      | (?:you|assistant)\s+(?:must|should|shall|need\s+to|have\s+to|will\s+(?:always|never)
        |are\s+(?:now|to)\b|can\s+(?:only|never))
      | (?:whenever|every\s+time|each\s+time|when|if)\s+(?:i|you|we|they|someone
        |the\s+user|a\s+user)\b[^.]*,\s*(?:always|never|please|you|reply|respond|answer|say|send
        |tell)
      | (?:always|never)\s+(?:answer|reply|respond|send|tell|say|include|call|use|reveal|ask
        |mention|write|forward|share|add|append|output|trust|refuse|speak|translate|start|end)
      | your\s+(?:new\s+)?(?:instructions?|rules?|role|task|job|system\s+prompt)\b
      | (?:system|developer)\s+(?:prompt|message)
      | act\s+as | pretend\s+(?:to|you) | ab\s+(?:jetzt|sofort) | von\s+nun\s+an
      | desde\s+ahora | a\s+partir\s+de\s+(?:ahora|agora) | \u00e0\s+partir\s+de\s+maintenant
      | dor\u00e9navant | d'ora\s+in\s+poi | od\s+teraz
    )\b
    | \u4ece\u73b0\u5728(?:\u5f00\u59cb|\u8d77) | \u4eca\u540e | \u4ee5\u540e\u4f60
    | \u3053\u308c\u304b\u3089\u306f
    | <\|[^|\s]{1,40}\|> | \[/?INST\] | ^\s*(?:system|assistant)\s*:""",
    re.IGNORECASE | re.VERBOSE,
)
SAYS_OF_ONESELF = re.compile(r"^(?:i|we)\s+(?:always|never)\b", re.IGNORECASE)


def refusal(text: str) -> Reason | None:
    """The reason why `text` must not be remembered, or None."""
    if holds_secret(text):
        return "secret"
    if INSTRUCTION.search(text) and not SAYS_OF_ONESELF.match(text):
        return "instruction"
    return None


def holds_secret(text: str) -> bool:
    """Whether `text` names a secret, or holds what is shaped like a key or a card number."""
    return bool(
        NAMED_SECRET.search(text)
        or KEY_SHAPES.search(text)
        or any(_is_random(token) for token in LONG_TOKEN.findall(text))
        or any(_is_card(number) for number in CARD.findall(text))
    )


def _is_random(token: str) -> bool:
    # Letters of both cases and digits mixed: long words and file names do not look like that.
    kinds = (str.isdigit, str.islower, str.isupper)
    mixed = sum(any(kind(c) for c in token) for kind in kinds)
    is_hex = re.fullmatch(r"[0-9a-f]{32,}", token, re.IGNORECASE) is not None
    return is_hex or (mixed == 3 and sum(c.isdigit() for c in token) >= 3)


def _is_card(number: str) -> bool:
    digits = [int(c) for c in number if c.isdigit()]
    doubled = [d if n % 2 == 0 else d * 2 - 9 * (d > 4) for n, d in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
