"""The conversation of an adapter with the harness. Adapters import `lockstorm_adapter`."""

import asyncio
import inspect
import itertools
import json
import os
import sys
import threading
import time
import traceback
from collections import Counter, namedtuple
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

PROTOCOL = 2
#: Abilities for which version 1 of the protocol has no word.
NEWER = {"cancel", "identity", "silent-watchdog", "always-renews"}
#: Longest text of an error, in characters: a line may have 65,536 bytes.
TEXT_MAX = 2000
#: Errors that a mistake in a program raises.
MISTAKES = (AttributeError, LookupError, NameError, NotImplementedError, TypeError)
#: Time that the request under way still has when no other can come.
ENDS_WITHIN = 2
#: Status of a program that was told what makes no sense.
BAD_INPUT = 65

#: What the library leaves open: why it refuses; whether what it gave back was the client's; whether
#: the client holds the lock still.
UNKNOWN = object()


class NotOwner(Exception):
    """The library says that the lock is not this client's."""


class Failed(Exception):
    """It certainly had no effect: the library or a server refused to do it."""


class Unsupported(Exception):
    """The library cannot do that at all."""


class Answer(dict):
    """An answer of the protocol, without the fields of which nothing is known."""

    def __init__(self, kind, **fields):
        known = {name: value for name, value in fields.items() if value is not None}
        super().__init__({"is": kind, **known})

    @classmethod
    def of(cls, word, said):
        """The answer that says what the method of this name has returned."""
        if isinstance(said, Answer):
            return said
        yes, no, unknown = _MEANING[word]
        if said is UNKNOWN:
            return unknown
        returns_nothing = said is None and word in ("renew", "release")
        return cls(yes if said or returns_nothing else no)


#: What it means that a method returns yes, no and `UNKNOWN`.
_MEANING = {
    "acquire": ("granted", "refused", Answer("refused", reason="unknown")),
    "renew": ("renewed", "not-owner", Answer("error", text="the library does not say")),
    "release": ("released", "not-owner", Answer("released", ownership="unknown")),
    "alive": ("held", "not-owner", Answer("suspended")),
}


class Server(namedtuple("Server", "host port")):
    """Address of a server, as a pair; `name` is what the harness calls it."""

    def __new__(cls, said):
        host, _, port = said["address"].rpartition(":")
        server = super().__new__(cls, host.strip("[]"), int(port))
        server.name = said["name"]
        return server


#: The sentinels, and the servers that they watch, whose primary they call `master`.
Sentinels = namedtuple("Sentinels", "master sentinels servers")


class Client:
    """The client that the adapter is to be, as `open` says."""

    def __init__(self, request):
        def seconds(field):
            return request[field] / 1000 if request.get(field) is not None else None

        def servers(said):
            return [Server(one) for one in said]

        self.name = request["client"]
        self.lease = seconds("lease_ms")  #: None: the lock never expires
        self.renew_every = seconds("renew_every_ms")  #: None: leases are not renewed
        self.patience = request["reply_timeout_ms"] / 1000  #: with a server
        self.node_timeout = seconds("node_timeout_ms")  #: with one of several; None: the library's
        self.permits = request.get("permits", 1)  #: how many a semaphore has in all
        self.identity = request.get("identity")  #: what to call the owner; None: the library's
        self.topology = request["topology"]
        self.servers = servers(request["servers"])  #: those that take writes
        self.nodes = servers(request.get("nodes", ()))  #: all
        watch = request.get("sentinels")
        self.sentinels = watch and Sentinels(
            watch["master"], servers(watch["sentinels"]), servers(watch["servers"])
        )
        self.seed = request["seed"]
        self.request = request  #: as it came


class Heard(namedtuple("Heard", "id read_ns")):
    """A request that was read, and when, on a clock of nanoseconds that is monotonic."""

    def now(self):
        """The present moment as the harness can know it: how long after which request."""
        return {"after": self.id, "after_us": (time.monotonic_ns() - self.read_ns) // 1000}


class _Message(dict):
    """An object of a line; what it lacks is an error in words."""

    def __missing__(self, field):
        raise Failed(f"the request must have '{field}'")


class Session:
    """One client's requests and notes: a thread reads, and the loop of asyncio answers."""

    def __init__(self, adapter, output):
        self.adapter, self.output = adapter, output
        self.lock = threading.RLock()
        self.worker = ThreadPoolExecutor(max_workers=1, initializer=self.start_worker)
        self.protocol, self.is_open = PROTOCOL, False
        #: The request under way: its number, the lock that it is about, and its task.
        self.number = self.place = self.task = self.worker_thread = None
        #: Number of the request that is to be given up.
        self.given_up = None
        #: Locks, each with its mode: ever granted, held how often, perhaps lost.
        self.granted, self.held, self.unsure = set(), Counter(), set()
        #: The last request that was read, replaced as a whole.
        self.heard = None
        #: Notes that come behind the answer to the request under way.
        self.early = []
        #: Renewals that wait for `go` or `skip`, and the numbers of the next ones.
        self.rulings, self.numbers = {}, itertools.count(1)

    async def run(self):
        """Answers one request after the other, and ends the program."""
        self.loop, self.requests = asyncio.get_running_loop(), asyncio.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        while (request := await self.requests.get()) is not None:
            with self.lock:
                self.number = request["id"]
                self.place = request.get("key"), request.get("mode", "write")
            self.task = asyncio.ensure_future(self.reply(request))
            if self.given_up == self.number:
                self.task.cancel()
            await asyncio.wait([self.task])
            self.finish(self.outcome())
        _end()

    def read(self):
        """Hears what the harness says, line by line."""
        for count, line in enumerate(sys.stdin.buffer, 1):
            read_ns = time.monotonic_ns()
            try:
                word = self.hear(json.loads(line, object_hook=_Message), read_ns)
            except (ValueError, TypeError, Failed) as error:
                print(f"line {count} of standard input: {error}", file=sys.stderr)
                _end(BAD_INPUT)
            if word == "close":
                break
        self.loop.call_soon_threadsafe(self.requests.put_nowait, None)
        time.sleep(ENDS_WITHIN)
        _end()

    def hear(self, message, read_ns):
        """Passes a message on to whom it concerns; gives the word of a request."""
        if not isinstance(message, dict):
            raise ValueError("it must be an object")
        for word in ("go", "skip"):
            if word in message:
                return self.rule(message[word], word == "go")
        word = message["do"]
        if not isinstance(message["id"], int):
            raise ValueError("'id' must be a number")
        self.heard = Heard(message["id"], read_ns)
        to = self.cancel if word == "cancel" else self.requests.put_nowait
        self.loop.call_soon_threadsafe(to, message)
        return word

    async def reply(self, request):
        """The answer to a request, whatever the library raises."""
        try:
            return await self.answer(request["do"], request)
        except Exception as error:
            return self.meaning(error)

    async def answer(self, word, request):
        adapter = self.adapter
        if word == "hello":
            self.protocol = min(PROTOCOL, request["protocol"])
            return Answer(word, protocol=self.protocol, name=adapter.name, version=adapter.version)
        if word == "open":
            await self.call(adapter.open, Client(request))
            self.is_open = True
            return self.opened()
        if word != "close" and not self.is_open:
            raise Unsupported(f"{word} before open")
        if word in _MEANING:
            return Answer.of(word, await self.ask(word, request))
        if word == "servers":
            await self.call(adapter.follow, [Server(one) for one in request["servers"]])
        elif word == "await" and hasattr(adapter, "await_turn"):
            times = request["pause_us"] / 1e6, request["within_us"] / 1e6
            await self.call(adapter.await_turn, request["key"], *times)
        elif word == "end-wait" and hasattr(adapter, "end_wait"):
            await self.call(adapter.end_wait, request["key"], request["granted"])
        elif word not in ("touch", "close"):
            raise Unsupported(f"it does not know '{word}'")
        return Answer("done")

    def opened(self):
        """What the adapter can do, and what its library promises."""
        adapter = self.adapter
        shows = {
            "wait": "wait" in _parameters(adapter.acquire),
            "await": hasattr(adapter, "await_turn"),
            "cancel": self.can_cancel(),
        }
        can = {*several(adapter.can), *(word for word, does in shows.items() if does)}
        return Answer(
            "opened",
            can=sorted(can if self.protocol > 1 else can - NEWER),
            promises=several(adapter.promises),
            denies=several(adapter.denies),
            answers_within_ms=milliseconds(adapter.answers_within),
            server_key=adapter.server_key,
        )

    def can_cancel(self):
        """Tells whether all that may take time are coroutines."""
        words = ("acquire", "renew", "release", "await_turn")
        calls = (getattr(self.adapter, word, None) for word in words)
        return all(inspect.iscoroutinefunction(call) for call in calls if call)

    def ask(self, word, request):
        """Calls the method of this name, with what it wants to know."""
        wait = request.get("wait_ms")
        how = {"mode": self.place[1], "permits": request.get("permits", 1)}
        for name, usual in (("mode", "write"), ("permits", 1)):
            if how[name] != usual and name not in _parameters(self.adapter.acquire):
                raise Unsupported(f"{name} must be {usual}")
        how["wait"] = wait and wait / 1000
        method = getattr(self.adapter, word)
        wanted = {name: how[name] for name in how if name in _parameters(method)}
        return self.call(method, request["key"], **wanted)

    async def call(self, method, *args, **how):
        """Calls a method of the adapter, whether it is a coroutine or not."""
        if inspect.iscoroutinefunction(method):
            return await method(*args, **how)
        said = await self.loop.run_in_executor(self.worker, partial(method, *args, **how))
        return await said if inspect.isawaitable(said) else said

    def outcome(self):
        """The answer to the request under way, now that its task is done."""
        if not self.task.cancelled():
            return self.task.result()
        if self.given_up == self.number:
            return Answer("cancelled")
        return Answer("error", text="CancelledError")

    def finish(self, reply):
        """Answers the request under way, and says what had to wait for that."""
        with self.lock:
            place, self.place = self.place, None
            if reply["is"] == "granted":
                self.granted.add(place)
                self.held[place] += 1
            elif reply["is"] == "released":
                self.held[place] = reply.get("count", max(0, self.held[place] - 1))
            elif reply["is"] == "not-owner":
                self.held[place] = 0
            if reply["is"] in ("granted", "released", "not-owner"):
                self.unsure.discard(place)
            self.write(id=self.number, **reply)
            early, self.early = self.early, []
            for note in early:
                self.note_on(*note)

    def cancel(self, request):
        """Gives up the request under way."""
        if not self.can_cancel():
            reply = self.meaning(Unsupported("its calls cannot be given up"))
        else:
            reply, self.given_up = Answer("done"), request.get("request")
            if self.task and self.given_up == self.number:
                self.task.cancel()
        self.write(id=request["id"], **reply)

    def meaning(self, error):
        """The answer that says what the library has raised."""
        if isinstance(error, (NotOwner, self.adapter.not_owner)):
            return Answer("not-owner")
        if isinstance(error, (Failed, self.adapter.failed)):
            return Answer("failed", text=str(error)[:TEXT_MAX])
        if isinstance(error, Unsupported):
            return Answer("unsupported", text=str(error)[:TEXT_MAX])
        return Answer("error", text=f"{type(error).__name__}: {error}{_place(error)}"[:TEXT_MAX])

    def believes(self, place):
        """Tells whether the client goes on as the holder, as far as it was told."""
        return UNKNOWN if place in self.unsure else self.held[place] > 0

    def start_worker(self):
        self.worker_thread = threading.get_ident()

    def is_within_request(self):
        """Tells whether it is a method of the adapter, called for a request, that calls this."""
        try:
            return asyncio.current_task() is self.task
        except RuntimeError:  # No loop runs here.
            return threading.get_ident() == self.worker_thread

    def tell(self, place, word):
        """Notes what the library tells of a lock at this moment."""
        heard = self.heard
        self.note_on(place, word, heard.now() if heard else {})

    def note_on(self, place, word, when):
        """Notes something on a lock, behind the answer that tells it or that grants the lock."""
        with self.lock:
            if self.is_within_request() or (place == self.place and place not in self.granted):
                self.early.append((place, word, when))
                return
            if place not in self.granted:
                return
            if word == "suspended":
                self.unsure.add(place)
            else:
                self.unsure.discard(place)
            if word == "lost":
                self.held[place] = 0
            self.write(note=word, key=place[0], mode=place[1], **when)

    def announce(self, place):
        """Announces a renewal; gives whom to tell its outcome, or None if it is left out."""
        ruling = Future()
        with self.lock:
            if place in self.granted:
                number = next(self.numbers)
                self.rulings[number] = ruling
                self.write(note="renewing", number=number, key=place[0], mode=place[1])
            else:
                # Nobody knows of the grant yet, so there is nobody to tell.
                ruling.set_result(lambda outcome: None)
        return ruling

    def rule(self, number, goes):
        """Lets an announced renewal go, or leaves it out."""
        if number not in self.rulings:
            raise ValueError(f"no renewal {number} waits")
        report = partial(self.report, number) if goes else None
        self.rulings.pop(number).set_result(report)

    def report(self, number, outcome):
        self.write(note="renewed", number=number, outcome=outcome)

    def write(self, **message):
        """Writes a line, whole."""
        line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        with self.lock:
            self.output.write(line + b"\n")
            self.output.flush()


def several(words):
    """A list of words, where one may stand for itself."""
    return [words] if isinstance(words, (str, bytes)) else list(words)


def milliseconds(seconds):
    """Whole milliseconds, and no more than it is."""
    return None if seconds is None else max(0, int(round(seconds * 1000, 3)))


def _place(error):
    """Where a mistake in a program was raised; servers and libraries raise other errors."""
    if not isinstance(error, MISTAKES):
        return ""
    *_, last = traceback.extract_tb(error.__traceback__)
    return f" ({os.path.basename(last.filename)}, line {last.lineno}, in {last.name})"


def _parameters(method):
    return inspect.signature(method).parameters


def _end(status=0):
    """Ends the program, whatever threads and timers the library keeps."""
    sys.stderr.flush()
    os._exit(status)
