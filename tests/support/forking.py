"""A ``clearcite`` command that starts at once: a process that has loaded everything forks for each call.

Pages of the documentation hold dozens of commands, and most of the time of a short command goes into loading. The
forked process has the caller's streams, folder, environment and arguments, and runs the same ``main``.

    python tests/support/forking.py SOCKET      # the server; the client is what ``install`` writes
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
call = {{"args": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
socket.send_fds(server, [json.dumps(call).encode() + b"\\n"], [0, 1, 2])
sys.exit(int(server.makefile().read()))
"""


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """A folder for PATH that holds the quick command, while its server runs."""
    address = str(folder / "socket")
    wide = {**os.environ, "COLUMNS": "250"}  # read once, when the console is made
    server = subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE, env=wide)
    try:
        if server.stdout is None or server.stdout.readline() != b"ready\n":
            raise RuntimeError("the server does not start")
        command = folder / "bin" / "clearcite"
        command.parent.mkdir()
        command.write_text(CLIENT.format(python=sys.executable, address=address), encoding="utf-8")
        command.chmod(0o755)
        yield command.parent
    finally:
        server.kill()
        server.communicate()


def serve(address: str) -> None:
    """Fork for each call until killed."""
    from clearcite.interfaces.cli import admin, answers, demo, documents, ingestion, traces
    from clearcite.interfaces.cli.main import run

    _ = admin, answers, demo, documents, ingestion, traces  # loaded once, not in each fork
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(8)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        caller, _ = listener.accept()
        if os.fork() == 0:
            if os.fork() == 0:
                answer(caller, run)
            os._exit(0)
        os.wait()
        caller.close()


def answer(caller: socket.socket, run: object) -> None:
    """One call, in a process of its own."""
    code = 70
    with suppress(BaseException):
        raw, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
        while not raw.endswith(b"\n"):
            raw += caller.recv(1 << 20)
        call = json.loads(raw)
        for own, given in enumerate(streams):
            os.dup2(given, own)
        os.chdir(call["folder"])
        os.environ.clear()
        os.environ.update(call["environment"])
        sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        code = run(call["args"])  # type: ignore[operator]
        sys.stdout.flush()
        sys.stderr.flush()
    caller.sendall(str(code).encode())
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
