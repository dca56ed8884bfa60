"""A client of the official Python SDK: calls every tool, in one protocol revision."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main() -> None:
    target, mode = json.loads(sys.argv[1]), sys.argv[2]
    server = target if isinstance(target, str) else StdioServerParameters(**target)
    async with Client(server, mode=mode) as client:
        told = {"tools": [tool.name for tool in (await client.list_tools()).tools]}
        saved = await client.call_tool(
            "memory_save",
            {
                "name": "Deploy day",
                "description": "deploys of the shop go out on Thursdays",
                "type": "project",
                "text": "The shop is deployed on Thursdays, as support is there then.",
            },
        )
        told["saved"] = saved.structured_content
        found = await client.call_tool("memory_search", {"query": "when is the shop deployed"})
        told["found"] = found.structured_content
        wrong = await client.call_tool("memory_read", {"id": "nothing"})
        told["wrong"] = [wrong.is_error, wrong.content[0].text]
        resources = (await client.list_resources()).resources
        told["resources"] = [str(resource.uri) for resource in resources]
        read = await client.read_resource(resources[0].uri)
        told["text"] = read.contents[0].text
    print(json.dumps(told))


asyncio.run(main())
