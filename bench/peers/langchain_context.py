"""What LangChain's context middleware would send, request by request.

Reads a session from standard input: {"messages": [{"role", "text", "id", "calls"}],
"window": tokens, "summary_bytes": bytes}. Writes for each strategy the pieces of every
request, as numbers into a table of byte counts. No model is asked.
"""

import json
import sys
from importlib.metadata import version

from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately


def as_messages(session):
    made = []
    for number, own in enumerate(session["messages"]):
        common = {"content": own["text"], "id": str(number)}
        if own["role"] == "assistant":
            calls = [{"id": c, "name": "tool", "args": {}} for c in own["calls"]]
            made.append(AIMessage(tool_calls=calls, **common))
        elif own["role"] == "tool":
            made.append(ToolMessage(tool_call_id=own["id"], **common))
        else:
            made.append(HumanMessage(**common))
    return made


class Table:
    """Pieces by what they say."""

    def __init__(self):
        self.known = {}
        self.bytes = []

    def number(self, message):
        key = (message.type, message.content, str(getattr(message, "tool_calls", "")))
        if key not in self.known:
            self.known[key] = len(self.bytes)
            self.bytes.append(len(message.content.encode()))
        return self.known[key]


def append_only(messages):
    return messages, 0


def editing():
    edit = ClearToolUsesEdit()

    def send(messages):
        sent = list(messages)
        edit.apply(sent, count_tokens=count_tokens_approximately)
        return sent, 0

    return send


def summarizing(session):
    asked = [0]

    def summarize(messages):
        asked[0] = sum(len(m.content.encode()) for m in messages)
        return "What was done, and why. " * (session["summary_bytes"] // 24)

    middleware = SummarizationMiddleware(
        model=FakeListChatModel(responses=["-"]),
        trigger=("tokens", session["window"] * 80 // 100),
        summarizer=summarize,
    )
    # What was summarised stays so: the state is what was sent last, and what came since.
    state = {"sent": [], "seen": 0}

    def send(messages):
        current = state["sent"] + messages[state["seen"] :]
        asked[0] = 0
        changed = middleware.before_model({"messages": current}, None)
        if changed is not None:
            current = changed["messages"][1:]
        state["sent"], state["seen"] = current, len(messages)
        return current, asked[0]

    return send


def main():
    session = json.load(sys.stdin)
    messages = as_messages(session)
    found = {"version": version("langchain"), "strategies": []}
    strategies = [
        ("append only", append_only),
        ("context editing", editing()),
        ("summarization at 80 %", summarizing(session)),
    ]
    for name, send in strategies:
        table, requests, summaries = Table(), [], []
        for at, message in enumerate(messages):
            if message.type != "ai" or at == 0:
                continue
            sent, summarised = send(messages[:at])
            requests.append([table.number(own) for own in sent])
            if summarised:
                summaries.append(summarised)
        found["strategies"].append(
            {"name": name, "bytes": table.bytes, "requests": requests, "summaries": summaries}
        )
    json.dump(found, sys.stdout)


main()
