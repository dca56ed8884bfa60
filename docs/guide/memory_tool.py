"""Claude with Everfold's memories, by Anthropic's Python SDK.

    pip install anthropic
    python memory_tool.py "When do we deploy?"

The model sees the folder /memories, as its memory tool has it. Behind it is
`everfold memory tool`: one JSON object in for each call, one out.
"""

import json
import subprocess
import sys

from anthropic import Anthropic
from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError


class EverfoldMemory(BetaAbstractMemoryTool):
    """The memories of the project in the current directory."""

    def execute(self, command):
        call = command.model_dump(exclude_none=True)
        done = subprocess.run(
            ["everfold", "memory", "tool"],
            input=json.dumps(call),
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(done.stdout)
        if answer["is_error"]:
            raise ToolError(answer["content"])
        return answer["content"]

    # `execute` does all of them.
    view = create = str_replace = insert = delete = rename = execute


def main() -> None:
    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=2_000,
        messages=[{"role": "user", "content": " ".join(sys.argv[1:])}],
        tools=[EverfoldMemory()],
        # Every request carries the whole conversation: proxies and gateways
        # between you and the API need not know of server-side threads.
        thread=False,
    )
    for block in runner.until_done().content:
        if block.type == "text":
            print(block.text)


if __name__ == "__main__":
    main()
