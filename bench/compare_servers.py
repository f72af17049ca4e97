"""The servers that bench/compare runs: their flags and why, and a process of each that is started, awaited and ended."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

CAIRN = "cairn"
LLAMA = "llama-server"
SERVERS = (CAIRN, LLAMA)
START_LIMIT_S = 300
STOP_LIMIT_S = 60

# -np of both with "best": how many requests a workload has in flight at once. The four conversations of `interleaved*`
# come in turn, and have fewer slots than they are: that is what it is about.
DEFAULT_STREAMS = 4
STREAMS = {"interleaved": 2, "interleaved-apart": 2, "edits": 1, "multi-turn": 1, "fan-out": 1, "restart": 1, "agent": 1, "concurrent": 6,
           "no-reuse-1": 1, "no-reuse-16": 16}
# What counts here is tokens per second alone: an answer may stand still while prompts are read.
THROUGHPUT = ("no-reuse-1", "no-reuse-4", "no-reuse-16")


class ServerError(Exception):
    """A server that does not start, or does not answer."""


def machine_memory_mib():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20


def flags_of(server, settings, workload, context, folder, streams=None):
    """What is given besides the model, the threads and the address. The reasons stand in bench/README.md."""
    best = settings == "best"
    streams = (streams or STREAMS.get(workload, DEFAULT_STREAMS)) if best else DEFAULT_STREAMS
    ram = str(machine_memory_mib() // 4)
    if server == CAIRN:
        flags = ["-c", str(context), "--cache-dir", str(folder / "cache")]
        if best and workload in THROUGHPUT:
            flags += ["--max-token-gap", "60000"]
        return flags + (["-np", str(streams), "--cache-ram", ram] if best else [])
    flags = ["-c", str(context * streams)]  # the slots share it, or get a part each
    if best:
        flags += ["-np", str(streams), "--no-kv-unified", "--flash-attn", "on", "--cache-ram", ram, "--ctx-checkpoints", "128",
                  "--checkpoint-min-step", "0", "--slot-save-path", str(folder / "slots")]
    return flags


def command_of(server, binaries, model, threads, port, flags):
    program = [f"{binaries}/cairn", "serve"] if server == CAIRN else [f"{binaries}/llama-server"]
    return program + ["-m", str(model), "-t", str(threads), "--host", "127.0.0.1", "--port", str(port)] + flags


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def on_cores(cores):
    """What is started inside runs on these cores only; the thread that starts it goes back to its own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Server:
    """One server on a free port of the loopback, with a folder of its own. Use it in a `with`: it ends with it."""

    def __init__(self, name, binaries, model, threads, flags, folder, log, cores):
        self.name = name
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = pathlib.Path(folder)
        self.log = pathlib.Path(log)
        self.cores = cores
        self.command = command_of(name, binaries, model, threads, self.port, flags)
        self.saves_slots = "--slot-save-path" in flags
        self.process = None

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "slots").mkdir(parents=True)
        self.log.unlink(missing_ok=True)  # it is appended to, at a restart
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log, on_cores(self.cores):
            log.write(" ".join(self.command) + "\n")
            log.flush()
            # A session of its own: Ctrl-C reaches this program alone, which ends the servers.
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            start_new_session=True)
        self.wait_for_health()

    def wait_for_health(self):
        until = time.monotonic() + START_LIMIT_S
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise ServerError(f"{self.name} ended with status {self.process.returncode} at its start: see {self.log}")
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            time.sleep(0.1)
        raise ServerError(f"{self.name} was not ready after {START_LIMIT_S} s: see {self.log}")

    def stop(self):
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_LIMIT_S)
        except BaseException as error:  # a second Ctrl-C too: nothing must stay behind
            process.kill()
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise

    def restart(self):
        """An orderly stop and a start. llama-server keeps what its API can: each slot's own sequence."""
        saved = self.save_slots() if self.saves_slots else []
        self.stop()
        self.start()
        for slot in saved:
            self.call(f"/slots/{slot}?action=restore", {"filename": f"slot-{slot}"})

    def save_slots(self):
        saved = []
        for slot in self.call("/slots"):
            number = slot["id"]
            with contextlib.suppress(ServerError):  # an empty slot cannot be saved
                answer = self.call(f"/slots/{number}?action=save", {"filename": f"slot-{number}"})
                if answer.get("n_saved", 0) > 0:
                    saved.append(number)
        return saved

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=STOP_LIMIT_S) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise ServerError(f"{self.name}: {path}: {error}") from error
