"""Runs commands of the memory tool on the local backend of Anthropic's SDK."""

import json
import sys

from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from anthropic.lib.tools._beta_functions import ToolError

tool = BetaLocalFilesystemMemoryTool(sys.argv[1])
for line in sys.stdin:
    try:
        answer = {"content": tool.call(json.loads(line)), "is_error": False}
    except ToolError as error:
        answer = {"content": error.content, "is_error": True}
    print(json.dumps(answer))
