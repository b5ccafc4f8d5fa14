"""Detection of requests that a chat client makes for itself in the user's name."""

import re

# As far as the request itself goes; the conversation it is about comes behind.
HEAD = 1200
AT_ONCE = 200
CHAT = (
    r"(?:conversation|chat(?:\s+(?:history|log|session))?|dialog(?:ue)?|discussion"
    r"|(?:messages?|exchanges?)\s+(?:above|below)"
    r"|(?:following|above|first|user'?s?)\s+(?:message|exchange|query))"
)
ASK = (
    r"(?:generate|create|suggest|provide|write|give|return|summari[sz]e|determine|produce|propose"
    r"|come\s+up\s+with|make|analy[sz]e|predict)"
)
NAMES_IT = r"(?:title|topic|subject\s+line|tags?|categor(?:y|ies)|emojis?|name|summary|keywords)"
# A title, tags or a summary of the chat, questions to ask next, or what to search for.
TASKS = re.compile(
    rf"""\b{ASK}\b(?:
        [^\n]{{0,200}}?\b{NAMES_IT}\b[^\n]{{0,200}}?\b{CHAT}\b
      | .{{0,120}}?\b{CHAT}\b.{{0,120}}?\b{NAMES_IT}\b
      | [^\n]{{0,120}}?\b{CHAT}\b[^\n]{{0,80}}?\b(?:\d+\s+(?:words|characters)|context\s+prompt)\b
      | [^\n]{{0,120}}?\b(?:questions?|prompts?)\b[^\n]{{0,60}}?\buser\b[^\n]{{0,40}}?\bask\b
      | [^\n]{{0,120}}?\bsearch\s+quer(?:y|ies)\b[^\n]{{0,200}}?\b{CHAT}\b
      | [^\n]{{0,120}}?\b{CHAT}\b[^\n]{{0,120}}?\bsearch\s+quer(?:y|ies)\b
    )
    | (?:\u4f7f\u7528|\u751f\u6210|\u8fd4\u56de|\u6982\u62ec|\u603b\u7ed3|\u8d77)[^\n]{{0,40}}
      (?:\u5bf9\u8bdd|\u4f1a\u8bdd|\u804a\u5929|\u8fd9\u53e5\u8bdd)[^\n]{{0,40}}
      (?:\u6807\u9898|\u4e3b\u9898|\u8bdd\u9898|\u4e0a\u4e0b\u6587)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# How clients mark such a request, whatever language it is in.
MARKED = re.compile(
    r"^\s*\#{1,4}\s*task\b.*?(?:<chat_history>|^\s*\#{1,4}\s*(?:chat\s+history|output)\b)"
    r"|<chat_history>.*?</chat_history>\s*\Z",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
# A task with sources to answer from holds the user's own question.
WITH_SOURCES = re.compile(
    r"\b(?:respond\s+to|answer)\s+(?:the\s+)?user(?:'s)?\s+(?:query|question)", re.IGNORECASE
)
SPEAKS_OF_ONESELF = re.compile(r"^\W*(?:(?:hi|hello|hey)\W+)?(?:i|my|we|our)\b", re.IGNORECASE)


def is_client_task(message: str) -> bool:
    """Whether a client asks `message` on its own: for a title, tags, questions or a search.

    Such a message comes in a user's name and holds what was said before. It is answered, and
    nothing in it is remembered.
    """
    head = message[:HEAD]
    if WITH_SOURCES.search(head):
        return False
    if MARKED.search(message):
        return True
    found = TASKS.search(head)
    return found is not None and found.start() < AT_ONCE and not SPEAKS_OF_ONESELF.match(message)
