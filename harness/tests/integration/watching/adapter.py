"""An adapter whose lock has a watchdog of its own, as short as can be; for tests of the checks.

With the argument `deaf` it renews whatever it is told.
"""

import json
import queue
import socket
import sys
import threading
import uuid

DEAF = sys.argv[1:] == ["deaf"]
OWN = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call({}) else return 0 end"
EXTEND = OWN.format("'pexpire',KEYS[1],ARGV[2]")
DELETE = OWN.format("'del',KEYS[1]")


class Server:
    """One connection, made anew when it was lost."""

    def __init__(self, request):
        host, port = request["servers"][0]["address"].rsplit(":", 1)
        self.peer, self.source = (host, int(port)), (request["source"], 0)
        self.patience = request["reply_timeout_ms"] / 1000
        self.connection, self.turn = None, threading.Lock()

    def tell(self, *words):
        with self.turn:
            try:
                return self.told(words)
            except OSError:
                self.connection = None
                raise

    def told(self, words):
        if self.connection is None:
            self.connection = socket.create_connection(self.peer, self.patience, self.source)
            self.answers = self.connection.makefile("rb")
        coded = [f"*{len(words)}\r\n"] + [f"${len(str(word))}\r\n{word}\r\n" for word in words]
        self.connection.sendall("".join(coded).encode())
        line = self.answers.readline()
        if not line:
            raise ConnectionError("the server hung up")
        return line.strip().decode()


class Client:
    def __init__(self, request):
        self.server = Server(request)
        self.lease = request["lease_ms"]
        self.held, self.words, self.announced = {}, queue.Queue(), 0
        every = request.get("renew_every_ms")
        if every is not None:
            threading.Thread(target=self.watch, args=(every / 1000,), daemon=True).start()

    def watch(self, every):
        over = threading.Event()
        while not over.wait(every):
            for key, token in list(self.held.items()):
                self.announced += 1
                number = self.announced
                say({"note": "renewing", "number": number, "key": key, "mode": "write"})
                may = "go" in self.words.get()
                if may or DEAF:
                    outcome = self.guarded(lambda: self.extend(key, token))
                    if may:
                        say({"note": "renewed", "number": number, "outcome": outcome})

    def guarded(self, deed):
        try:
            return deed()
        except OSError as error:
            return {"is": "error", "text": str(error)}

    def extend(self, key, token):
        told = self.server.tell("EVAL", EXTEND, 1, key, token, self.lease)
        return {"is": "renewed" if told == ":1" else "not-owner"}

    def acquire(self, key):
        token = uuid.uuid4().hex
        if self.server.tell("SET", key, token, "NX", "PX", self.lease) != "+OK":
            return {"is": "refused"}
        self.held[key] = token
        return {"is": "granted"}

    def renew(self, key):
        return self.extend(key, self.held.get(key, ""))

    def release(self, key):
        told = self.server.tell("EVAL", DELETE, 1, key, self.held.pop(key, ""))
        return {"is": "released" if told == ":1" else "not-owner"}

    def alive(self, key):
        return {"is": "held" if key in self.held else "not-owner"}

    def touch(self, key):
        return {"is": "done"}


MOUTH = threading.Lock()


def say(message):
    with MOUTH:
        print(json.dumps(message), flush=True)


client = None
for line in sys.stdin:
    request = json.loads(line)
    if "do" not in request:
        client.words.put(request)
        continue
    if request["do"] == "hello":
        reply = {"is": "hello", "protocol": 1, "name": "watching"}
    elif request["do"] == "open":
        client, reply = Client(request), {"is": "opened", "can": ["source", "watchdog"]}
    elif request["do"] == "close":
        reply = {"is": "done"}
    else:
        reply = client.guarded(lambda: getattr(client, request["do"])(request["key"]))
    say({"id": request["id"], **reply})
    if request["do"] == "close":
        break
