"""mem0's search over a directory of notes: python mem0_search.py NOTES STORE QUERIES.

Vectors are made from the words by rule, so no model is asked and nothing is fetched.
Prints the milliseconds of each search after the first, and the version.
"""

import json
import pathlib
import sys
import time
from importlib.metadata import version

from langchain_core.embeddings import DeterministicFakeEmbedding
from mem0 import Memory

notes, store, queries = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
size = 256
memory = Memory.from_config(
    {
        "embedder": {
            "provider": "langchain",
            "config": {"model": DeterministicFakeEmbedding(size=size)},
        },
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": store, "embedding_model_dims": size, "on_disk": True},
        },
        "history_db_path": store + ".db",
    }
)
for path in sorted(pathlib.Path(notes).glob("*.md")):
    memory.add(path.read_text(), user_id="bench", infer=False)


def search(query):
    try:
        return memory.search(query, filters={"user_id": "bench"})
    except TypeError:
        return memory.search(query, user_id="bench")


search(queries[0])
took = []
for query in queries:
    began = time.perf_counter()
    search(query)
    took.append((time.perf_counter() - began) * 1000)
json.dump({"version": version("mem0ai"), "ms": took}, sys.stdout)
