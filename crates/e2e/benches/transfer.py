#!/usr/bin/env python3
"""What a push and a clone cost beside their peers: curl with openssl, and git over HTTP.

Both sides run on this machine and in this run, in turns. Nothing is asserted. What is printed on standard output is
the section of docs/benchmarks.md, to be pasted there; how far it has come is told on standard error. Needs curl,
openssl and git; about six times SIZE is written below the temporary directory.
"""

import argparse
import datetime
import http.server
import json
import os
import pathlib
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import urllib.request

TOKEN = "bench"
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# What both programs are told is all they know: no proxies, no configuration of the user's.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.org",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.org",
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--programs", type=pathlib.Path, default=REPOSITORY / "target/release")
    arguments.add_argument("--size", type=int, default=1 << 30, help="bytes of the large file")
    arguments.add_argument("--files", type=int, default=100_000, help="how many small files")
    arguments.add_argument("--rounds", type=int, default=3, help="how often each download is timed; the best counts")
    arguments.add_argument("--only", choices=["large", "small"])
    chosen = arguments.parse_args()
    # So that the server and the gigabytes go, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    table = Table()
    with tempfile.TemporaryDirectory(prefix="bench-transfer-") as place:
        place = pathlib.Path(place)
        where = file_system(place)
        if chosen.only != "small":
            large_file(chosen, place / "large", table)
        if chosen.only != "large":
            small_files(chosen, place / "small", table)
    print(introduction(chosen, where))
    print(table.text())


def large_file(chosen, place, table):
    work = place / "work"
    work.mkdir(parents=True)
    write_incompressible(work / "file", chosen.size)
    what = f"a file of {chosen.size >> 20:,} MiB"
    with Hub(chosen, place / "hub") as hub:
        push = hub.push(work, place / "home")
        peak_of_push = hub.peak_memory()
        shutil.rmtree(work)
        clones, peers = [], []
        for number in range(chosen.rounds):
            tell(f"{what}: round {number + 1} of {chosen.rounds}")
            clones.append(hub.clone(place / "clone"))
            shutil.rmtree(place / "clone")
            peers.append(hub.curl_and_openssl(place / "pack"))
        peer = best(peers)
        table.row(f"push {what}", push, server=peak_of_push)
        table.row(f"clone {what}", best(clones), peer, hub.peak_memory())
        table.row("`curl -o`, then `openssl dgst -sha256`", peer)
    shutil.rmtree(place)


def small_files(chosen, place, table):
    work = place / "work"
    write_small_files(work, chosen.files)
    what = f"{chosen.files:,} small files"
    bare = place / "git" / "tree.git"
    make_git_repository(work, bare)
    with Hub(chosen, place / "hub") as hub, GitServer(bare.parent) as git:
        push = hub.push(work, place / "home")
        peak_of_push = hub.peak_memory()
        clones, peers = [], []
        for number in range(chosen.rounds):
            tell(f"{what}: round {number + 1} of {chosen.rounds}")
            clones.append(hub.clone(place / "clone"))
            shutil.rmtree(place / "clone")
            peers.append(run(["git", "clone", "-q", f"{git.url}/tree.git", place / "git-clone"]))
            shutil.rmtree(place / "git-clone")
        peer = best(peers)
        table.row(f"push {what}", push, server=peak_of_push)
        table.row(f"clone {what}", best(clones), peer, hub.peak_memory())
        table.row("`git clone` of the same tree", peer)


class Table:
    """Costs in Markdown; of who has a peer, with the ratio to it."""

    def __init__(self):
        self.rows = []

    def row(self, what, cost, peer=None, server=None):
        wall, processor, memory = cost
        ratio = lambda mine, theirs: f" ({mine / theirs:.2f} ×)"
        self.rows.append([
            what,
            f"{wall:.2f} s" + (ratio(wall, peer[0]) if peer else ""),
            f"{processor:.2f} s" + (ratio(processor, peer[1]) if peer else ""),
            mebibytes(memory),
            mebibytes(server) if server else "",
        ])

    def text(self):
        head = ["what", "wall clock", "processor", "peak memory", "the server's"]
        return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *self.rows])


def introduction(chosen, where):
    """When and where this was measured, in words."""
    today = datetime.date.today()
    load = os.getloadavg()[0]
    gibibytes = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30))
    text = (
        f"Measured on {today.day} {today:%B %Y} on {os.cpu_count()} cores of {processor_name()} with {gibibytes} GiB of "
        f"memory, everything on {where}; the load was {load:.1f} at the end. The best of {chosen.rounds} rounds of "
        f"wall clock and of processor (user and system) each (a push runs once), and "
        f"the peak of memory; a ratio is that to the peer in the row below.\n"
    )
    return textwrap.fill(text, 115) + "\n"


def processor_name():
    names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(": ")[2] if names else "an unknown processor"


def file_system(place):
    said = subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True, text=True).stdout.strip()
    return said or "an unknown file system"


def mebibytes(count):
    return f"{count / (1 << 20):.0f} MiB"


def tell(text):
    print(text, file=sys.stderr, flush=True)


class Hub:
    """The server, as a process, with one repository."""

    def __init__(self, chosen, data):
        self.client = chosen.programs / "fetch-client"
        command = [chosen.programs / "refusal-server", "--listen", "127.0.0.1:0", "--data", data, "--dev-token", TOKEN]
        command += ["--retry-after-index", "1", "--retry-after-prebuild", "1"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        ready = self.process.stdout.readline().decode()
        prefix = "refusal-server ready on "
        if not ready.startswith(prefix):
            sys.exit(f"expected the server's ready line, got {ready!r}")
        self.url = ready.removeprefix(prefix).strip() + "/bench/tree"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def push(self, work, home):
        run([self.client, "-C", work, "init"])
        run([self.client, "-C", work, "commit", "-m", "the tree"])
        cost = run([self.client, "-C", work, "push", "--token", TOKEN, "--public", self.url])
        # The first clone waits until its pack is prebuilt. That wait is none of the transfer's.
        self.clone(home, "--retry-timeout", "3600")
        shutil.rmtree(home)
        return cost

    def clone(self, target, *options):
        return run([self.client, "clone", *options, self.url, target])

    def curl_and_openssl(self, path):
        refs = json.load(urllib.request.urlopen(f"{self.url}/refs"))
        question = json.dumps({"want": list(refs["branch_heads"].values()), "have": []}).encode()
        request = urllib.request.Request(f"{self.url}/fetch/mpack", question, {"Content-Type": "application/json"})
        answer = json.load(urllib.request.urlopen(request))
        downloaded = run(["curl", "-sSf", "-o", path, answer["url"]])
        hashed = run(["openssl", "dgst", "-sha256", path])
        path.unlink()
        return downloaded[0] + hashed[0], downloaded[1] + hashed[1], max(downloaded[2], hashed[2])

    def peak_memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10


class GitServer:
    """`git http-backend` behind as much of CGI as it takes for a clone."""

    def __init__(self, root):
        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), type("Handler", (GitHandler,), {"root": root}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()


class GitHandler(http.server.BaseHTTPRequestHandler):
    root = None

    def do_GET(self):
        path, _, query = self.path.partition("?")
        environment = ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        command = ["git", "-c", "safe.directory=*", "http-backend"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as backend:
            backend.stdin.write(body)
            backend.stdin.close()
            status, fields = 200, []
            while field := backend.stdout.readline().strip().decode():
                name, _, value = field.partition(": ")
                if name == "Status":
                    status = int(value.split()[0])
                else:
                    fields.append((name, value))
            self.send_response(status)
            for name, value in fields:
                self.send_header(name, value)
            self.end_headers()
            shutil.copyfileobj(backend.stdout, self.wfile, 1 << 20)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def make_git_repository(work, bare):
    """The same tree as one packed commit: what a hub has prebuilt, git has repacked."""
    bare.mkdir(parents=True)
    git = ["git", f"--git-dir={bare}"]
    run(["git", "init", "-q", "--bare", "-b", "main", bare])
    run([*git, f"--work-tree={work}", "add", "--all"])
    run([*git, f"--work-tree={work}", "commit", "-q", "-m", "the tree"])
    run([*git, "repack", "-adq"])
    run([*git, "config", "http.uploadpack", "true"])


def write_incompressible(path, size):
    """The same bytes every time: a key stream."""
    key = ["-K", "00" * 16, "-iv", "00" * 16]
    command = f"head -c {size} /dev/zero | openssl enc -aes-128-ctr {' '.join(key)}"
    with path.open("wb") as file:
        subprocess.run(["sh", "-c", command], stdout=file, check=True)


def write_small_files(work, count):
    for number in range(count):
        folder = work / f"part-{number // 100:04}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        lines = (f"line {line} of file {number}: {number * 2654435761 % 2**32:08x}\n" for line in range(number % 24 + 1))
        (folder / f"file-{number:06}.txt").write_text("".join(lines))


def run(command):
    """Seconds of the wall clock, seconds of a processor, and bytes of memory at the peak."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {process.returncode}:\n{said}")
    # No less than this script's own: the kernel counts from before the program took its place.
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def best(costs):
    walls, processors, peaks = zip(*costs)
    return min(walls), min(processors), max(peaks)


main()
