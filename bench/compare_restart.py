"""How `cairn bench --restart-with COMMAND` restarts a server that bench/compare holds: the command knocks at a socket."""

import contextlib
import pathlib
import shlex
import socket
import sys
import tempfile
import threading


@contextlib.contextmanager
def restart_command(server):
    """Gives the command. While the block runs, whoever runs it has `server` restarted, and waits until that is done."""
    # Not in the output folder: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="cairn-compare-") as folder, socket.socket(socket.AF_UNIX) as door:
        path = str(pathlib.Path(folder) / "restart")
        door.bind(path)
        door.listen()
        thread = threading.Thread(target=answer_knocks, args=(door, server), daemon=True)
        thread.start()
        try:
            yield shlex.join([sys.executable, str(pathlib.Path(__file__).resolve()), path])
        finally:
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
            thread.join()


def answer_knocks(door, server):
    while True:
        try:
            knock, _ = door.accept()
        except OSError:
            return
        with knock, contextlib.suppress(OSError):
            try:
                server.restart()
                knock.sendall(b"ok")
            except Exception as error:  # whoever knocked must hear of it, whatever it is
                knock.sendall(str(error).encode())


def main():
    with socket.socket(socket.AF_UNIX) as knock:
        knock.connect(sys.argv[1])
        answer = b"".join(iter(lambda: knock.recv(4096), b"")).decode()
    if answer != "ok":
        sys.exit(f"the server was not restarted: {answer or 'no answer'}")


if __name__ == "__main__":
    main()
