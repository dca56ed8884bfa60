"""Writes apps/cli/startup.order: what the program runs when it starts (E11).

    python bench/start/order.py

Needs valgrind (some five minutes, most of it a release build). To be run again when
Rust or the versions of crates change: names of functions change with them. What
it runs is a conversation that is resumed, a hook, a recall and a memory that is
added, in an empty home against a server that refuses every request.
"""

import bisect
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORDER = ROOT / "apps/cli/startup.order"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "release/everfold"
ENDS = "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


def build(work):
    """The program, and where each function stands in it."""
    map_file = work / "map"
    env = {**os.environ, "EVERFOLD_LINK_MAP": str(map_file)}
    cargo = ["cargo", "build", "--release", "--locked", "--package", "everfold-cli"]
    subprocess.run(cargo, cwd=ROOT, env=env, check=True)
    places, in_text = {}, False
    for line in map_file.read_text(errors="replace").splitlines():
        found = re.match(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ (.*)$", line)
        if not found:
            continue
        address, size, rest = found.groups()
        if not rest.startswith(" "):
            in_text = rest == ".text"
        elif in_text and rest.startswith("                ") and not rest.strip().startswith("."):
            places[int(address, 16)] = rest.strip()
    return places


def refuse(listener):
    """Reads each request to its end, and refuses it."""
    while True:
        stream, _ = listener.accept()
        stream.settimeout(2)
        try:
            while stream.recv(1 << 20):
                pass
        except OSError:
            pass
        stream.sendall(ENDS.encode())
        stream.close()


def trace(work, number, args, given, home, project, port):
    """The addresses that a run executes."""
    out = work / f"run-{number}"
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "none",
    }
    tool = ["valgrind", "--quiet", "--tool=callgrind", "--dump-instr=yes"]
    command = [*tool, f"--callgrind-out-file={out}", str(PROGRAM), *args]
    subprocess.run(command, cwd=project, env=env, input=given, text=True, timeout=300)
    addresses, objects, is_ours, last = set(), {}, False, 0
    for line in out.read_text(errors="replace").splitlines():
        found = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
        if found:
            number, name = found.groups()
            objects.setdefault(number, name)
            is_ours = objects[number] == str(PROGRAM)
        found = re.match(r"(0x[0-9a-f]+|\+\d+|-\d+|\*) ", line)
        if found:
            word = found.group(1)
            if word.startswith("0x"):
                last = int(word, 16)
            elif word != "*":
                last += int(word)
            if is_ours:
                addresses.add(last)
    return addresses


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        places = build(work)
        home, project = work / "home", work / "project"
        home.mkdir()
        project.mkdir()
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=refuse, args=[listener], daemon=True).start()
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(project)}
        runs = [
            (["-p", "hi"], None),
            (["-p", "-c", "go on"], None),
            (["memory", "add", "--name", "n", "--description", "d", "--type", "project"], "A fact."),
            (["recall", "which fact?"], None),
            (["hook"], json.dumps({**prompt, "prompt": "which fact?"})),
        ]
        starts, executed = sorted(places), set()
        for number, (args, given) in enumerate(runs):
            port = listener.getsockname()[1]
            for address in trace(work, number, args, given, home, project, port):
                at = bisect.bisect_right(starts, address) - 1
                if at >= 0:
                    executed.add(places[starts[at]])
        names = sorted(executed)
        ORDER.write_text("".join(f"{name}\n" for name in names))
        print(f"{len(names)} functions in {ORDER.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
