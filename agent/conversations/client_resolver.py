"""Resolution of a program's message: its conversation, its history and its key."""

from dataclasses import replace

from agent.conversations.client_keys import conversation_by_client_id, turn_by_key, turn_key
from agent.conversations.conversation_store import ConversationStore
from agent.db.database import Database
from agent.request import Client, Request
from memory_engine.types import Message


class ClientResolver:
    """Resolves requests that come with a `Client` against stored conversations."""

    def __init__(self, database: Database, conversations: ConversationStore) -> None:
        self._database = database
        self._conversations = conversations

    async def resolve(self, request: Request) -> Request:
        """The request with its conversation, its history and the key of its message.

        A named conversation whose history the program does not send goes on as it is stored.
        Without a name, the conversation is the one in which the history was said. What is not
        to be remembered and names no conversation stays nowhere.
        """
        client = request.client
        if client is None or not (request.remember or client.conversation):
            return request
        if client.conversation is None:
            return await self._by_history(request, client)
        return await self._by_name(request, client, client.conversation)

    async def _by_history(self, request: Request, client: Client) -> Request:
        message = Message("user", request.message)
        key = turn_key(request.owner, None, [*client.history, message])
        users = [n for n, turn in enumerate(client.history) if turn.role == "user"]
        keys = [key]
        if users:
            keys.append(turn_key(request.owner, None, client.history[: users[-1] + 1]))
        found = None
        async with self._database.read() as session:
            for known in keys:
                found = found or await turn_by_key(session, known)
        return replace(
            request,
            conversation_id=str(found.conversation_id) if found else None,
            client=replace(client, key=key),
        )

    async def _by_name(self, request: Request, client: Client, name: str) -> Request:
        message = Message("user", request.message)
        key: str | None = turn_key(request.owner, name, [*client.history, message])
        async with self._database.read() as session:
            found = await conversation_by_client_id(session, request.owner, name)
        if found is None:
            return replace(request, client=replace(client, key=key))
        conversation = str(found.id)
        history = client.history
        if not history:
            stored = await self._conversations.messages(request.owner, conversation)
            # The first message again is one that its program wants another reply to.
            if stored[:1] != [message] or len(stored) > 2:
                history, key = tuple(stored), None
        return replace(
            request,
            conversation_id=conversation,
            client=replace(client, history=history, key=key),
        )
