#!/usr/bin/env python3
"""What a refusal costs the server beside nginx that returns the same head and body.

Seconds of a processor for each request, in pairs of one run: a pair is one burst at the server and one at nginx, over
64 connections that are kept alive. Nothing is asserted. Needs nginx and wrk.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TOKEN = "bench"
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# Neither side writes a line for each request, and each has one worker.
ENVIRONMENT = {"PATH": os.environ["PATH"] + ":/usr/sbin", "RUST_LOG": "warn", "TOKIO_WORKER_THREADS": "1"}
CONNECTIONS = 64
TICKS = os.sysconf("SC_CLK_TCK")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--programs", type=pathlib.Path, default=REPOSITORY / "target/release")
    arguments.add_argument("--pairs", type=int, default=5)
    arguments.add_argument("--seconds", type=int, default=4, help="how long a burst lasts")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-refusals-") as place:
        measure(chosen, pathlib.Path(place))


def measure(chosen, place):
    print(f"| refusal | server, µs a request | nginx, µs a request | ratio (of {chosen.pairs} pairs: least, median, most) |")
    print("|---|---|---|---|")
    with Server(chosen.programs, place) as server:
        for name, request in server.refusals():
            head, body = server.ask(request)
            if not name.startswith(str(head[0])):
                sys.exit(f"expected {name}, got {head[0]}: {body}")
            with Nginx(place, head, body) as nginx:
                script = write_script(place, request)
                pairs = []
                for _ in range(chosen.pairs):
                    pairs.append((burst(server, script, chosen.seconds), burst(nginx, script, chosen.seconds)))
                ours, theirs = (statistics.median(side) for side in zip(*pairs))
                ratios = sorted(one / other for one, other in pairs)
                spread = f"{ratios[0]:.2f}, {statistics.median(ratios):.2f}, {ratios[-1]:.2f}"
                print(f"| {name} | {ours * 1e6:.1f} | {theirs * 1e6:.1f} | {spread} |", flush=True)


class Server:
    """The server as a process, brought to where it refuses."""

    def __init__(self, programs, place):
        self.programs, self.place = programs, place
        command = [programs / "refusal-server", "--listen", "127.0.0.1:0", "--data", place / "data", "--dev-token", TOKEN]
        command += ["--hold-jobs", "mpack.index", "--throttle-per-second", "0.001", "--throttle-burst", "1"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        ready = self.process.stdout.readline().decode()
        prefix = "refusal-server ready on http://"
        if not ready.startswith(prefix):
            sys.exit(f"expected the server's ready line, got {ready!r}")
        self.address = ready.removeprefix(prefix).strip()
        self.worker = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def refusals(self):
        throttled = ("GET", "/throttle/bench", {}, "")
        self.ask(throttled)
        yield "429, too many requests", throttled
        yield "503, objects not yet indexed", self.unindexed()
        yield "507, no capacity", self.no_capacity()

    def unindexed(self):
        work = self.place / "work"
        work.mkdir()
        (work / "file").write_text("not indexed\n")
        url = f"http://{self.address}/bench/tree"
        for arguments in (["init"], ["commit", "-m", "one"], ["push", "--token", TOKEN, "--public", url]):
            client = [self.programs / "fetch-client", "-C", work, *arguments]
            subprocess.run(client, check=True, capture_output=True, env=ENVIRONMENT)
        _, refs = self.ask(("GET", "/bench/tree/refs", {}, ""))
        question = {"want": list(json.loads(refs)["branch_heads"].values()), "have": []}
        return "POST", "/bench/tree/fetch/mpack", {"Content-Type": "application/json"}, json.dumps(question)

    def no_capacity(self):
        _, token = self.ask(("POST", "/auth", {}, json.dumps({"namespace": "bench", "key": TOKEN})))
        fields = {"Authorization": f"Bearer {json.loads(token)['access_token']}", "Content-Type": "application/json"}
        wanted = {"name": "one", "cpus": 16, "memory": 16}
        for _ in range(8):
            # Until every hypervisor is full.
            self.ask(("POST", "/instances", fields, json.dumps(wanted)))
        return "POST", "/instances", fields, json.dumps(wanted)

    def ask(self, request):
        method, path, fields, body = request
        connection = http.client.HTTPConnection(self.address)
        connection.request(method, path, body or None, fields)
        answer = connection.getresponse()
        return (answer.status, answer.getheaders()), answer.read().decode()


class Nginx:
    """One worker that returns the same status, fields and body."""

    OWN = {"date", "content-length", "content-type", "connection"}

    def __init__(self, place, head, body):
        status, fields = head
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        added = []
        for name, value in fields:
            if name.lower() == "content-type":
                added.append(f"default_type {quoted(value)};")
            elif name.lower() == "x-request-id":
                added.append("add_header X-Request-Id $request_id always;")
            elif name.lower() not in self.OWN:
                added.append(f"add_header {name} {quoted(value)} always;")
        configuration = place / "nginx.conf"
        configuration.write_text(
            f"""daemon off; worker_processes 1; pid {place}/nginx.pid; error_log {place}/nginx.log;
            events {{ worker_connections 1024; }}
            http {{ access_log off; keepalive_requests 1000000000; server_tokens off;
              client_body_temp_path {place}/1; proxy_temp_path {place}/2; fastcgi_temp_path {place}/3;
              uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;
              server {{ listen {port}; location / {{ {' '.join(added)} return {status} {quoted(body)}; }} }} }}"""
        )
        self.process = subprocess.Popen(["nginx", "-c", configuration, "-p", place], env=ENVIRONMENT)
        self.wait_until_it_answers()
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.worker = int(children.read_text().split()[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def wait_until_it_answers(self):
        for _ in range(100):
            try:
                connection = http.client.HTTPConnection(self.address, timeout=1)
                connection.request("GET", "/")
                connection.getresponse().read()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("nginx does not answer")


def burst(side, script, seconds):
    """Seconds of a processor that the server used for each request."""
    before = processor_time(side.worker)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script, f"http://{side.address}/"]
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout
    used = processor_time(side.worker) - before
    requests = int(re.search(r"(\d+) requests in", told).group(1))
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", told)
    if refused is None or int(refused.group(1)) != requests:
        sys.exit(f"expected nothing but refusals, got\n{told}")
    return used / requests


def processor_time(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def write_script(place, request):
    method, path, fields, body = request
    script = place / "request.lua"
    lines = [f"wrk.method = {quoted(method)}", f"wrk.path = {quoted(path)}"]
    lines += [f"wrk.headers[{quoted(name)}] = {quoted(value)}" for name, value in fields.items()]
    lines += [f"wrk.body = {quoted(body)}"] if body else []
    script.write_text("\n".join(lines) + "\n")
    return script


def quoted(text):
    """A string that nginx and Lua read alike."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    main()
