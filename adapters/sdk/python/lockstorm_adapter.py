"""Everything of an adapter but the lock: docs/adapter-protocol.md.

Make a subclass of `Adapter` that opens, takes and gives back the lock of your library, and call
`serve` with it. Times are in seconds. What the library raises becomes the answer that is safe: an
error, which says that nobody knows whether it had an effect.
"""

import asyncio
import base64
import contextlib
import inspect
import os
import sys
from functools import partial

from lockstorm_session import (
    UNKNOWN,
    Answer,
    Client,
    Failed,
    NotOwner,
    Sentinels,
    Server,
    Session,
    Unsupported,
    milliseconds,
    several,
)

__all__ = [
    "UNKNOWN",
    "Adapter",
    "Client",
    "Failed",
    "NotOwner",
    "Sentinels",
    "Server",
    "Unsupported",
    "granted",
    "only",
    "released",
    "renewed",
    "serve",
]


def granted(lease=None, token=None, marks=(), by=(), waited=None, until=None):
    """Returns a grant that says more than yes.

    The lock is good for `lease` from the call on (None: as `open` said), or `until` its
    "session-end", where it has no lease and goes with a session. Its fencing token is `token`. Servers know its holder by `marks`, texts or bytes, such as the value at the key. The
    servers of the names in `by` granted it. The try that was granted was sent when the call had
    `waited` for so long, at least.
    """
    return Answer(
        "granted",
        lease_ms=milliseconds(lease),
        token=None if token is None else int(token),
        marks=[_mark(mark) for mark in several(marks)],
        by=several(by),
        waited_ms=milliseconds(waited),
        until=until,
    )


def renewed(lease=None):
    """Returns a renewal after which the lock is good for `lease`, from the call on."""
    return Answer("renewed", lease_ms=milliseconds(lease))


def released(count=None):
    """Returns a release after which the client holds the lock `count` times."""
    return Answer("released", count=count)


def only(servers):
    """Returns the one server of a lock that lives on one; with more it is unsupported."""
    if len(servers) != 1:
        raise Unsupported(f"its locks live on one server, and here are {len(servers)}")
    return servers[0]


class Adapter:
    """One client of a library's lock: its methods call the library, and say what that says.

    Functions are called on a thread of their own, one after the other; coroutines run on the loop
    of asyncio. Where all that take, renew and give back are coroutines, a call can be given up: its
    task is cancelled. They are handed `mode` ("read" or "write"), `permits` and `wait` (None: try
    once) if they have a parameter of that name. Where the library knows when to try again, there is
    `await_turn(key, pause, within)` too, and `end_wait(key, granted)`.
    """

    name, version = "a lock", ""
    #: Abilities by their words in the protocol, beside `cancel`, `wait` and `await`, which show.
    can = ()
    #: Promises beyond those of every lock, and those of every lock that this one does not make.
    promises = denies = ()
    #: Longest time that a call of the library takes, all its tries included; None: under 10 s.
    answers_within = None
    #: Key at which servers keep a lock, such as "lock:{key}"; None: the name is the key.
    server_key = None
    #: Exceptions of the library that mean the same as `NotOwner`, and as `Failed`.
    not_owner = failed = ()

    def open(self, client):
        """Makes ready to be this `Client`."""

    def follow(self, servers):
        """Sends what writes to these servers from now on."""
        raise Unsupported("it stays with its servers")

    def acquire(self, key):
        """Tries once: true or `granted(...)`, false where another has it, or `UNKNOWN`."""
        raise NotImplementedError

    async def renew(self, key):
        """Extends the lease: nothing, true or `renewed(...)`; false where it is not its own."""
        raise Unsupported("it does not renew")

    def release(self, key):
        """Gives it back: nothing, true, `released(...)`, `UNKNOWN`; false if it is not its own."""
        raise NotImplementedError

    def alive(self, key, mode="write"):
        """Tells whether the client goes on as the holder, or `UNKNOWN`, without asking a server."""
        return self._session.believes((key, mode))

    def gate(self, key, renew, *args, mode="write", skipped=None, **how):
        """Lets a renewal pass that the library's own watchdog is about to send.

        `renew(*args, **how)` sends it, and gives or raises what the method `renew` may. While the
        scenario stalls the watchdog it is not called, and the result is `skipped`. If it is a
        coroutine function, the result is to be awaited.
        """
        ruling = self._session.announce((key, mode))
        renew_now = partial(renew, *args, **how)
        if inspect.iscoroutinefunction(renew):
            return self._pass(ruling, renew_now, skipped)
        report = ruling.result()
        if report is None:
            return skipped
        with self._reporting(report) as tell:
            return tell(renew_now())

    async def _pass(self, ruling, renew_now, skipped):
        try:
            report = await asyncio.shield(asyncio.wrap_future(ruling))
        except asyncio.CancelledError:
            # The watchdog was stopped: it will not be sent, and whoever lets it go is to know.
            ruling.add_done_callback(_left_out)
            raise
        if report is None:
            return skipped
        with self._reporting(report) as tell:
            return tell(await renew_now())

    @contextlib.contextmanager
    def _reporting(self, report):
        """Reports what comes of a renewal: what is told, or raised."""
        said = []
        try:
            yield lambda result: said.append(result) or result
        except BaseException as error:
            report(self._session.meaning(error))
            raise
        report(Answer.of("renew", said[0]))

    def lost(self, key, mode="write"):
        """Notes that the library has said that the lock is lost."""
        self._session.tell((key, mode), "lost")

    def suspended(self, key, mode="write"):
        """Notes that the library has said that it does not know whether the lock is held."""
        self._session.tell((key, mode), "suspended")

    def resumed(self, key, mode="write"):
        """Notes that the library has said that the lock was held all the time."""
        self._session.tell((key, mode), "resumed")

    def queued(self, key):
        """Notes that the client has taken a place in the queue, during `acquire` or a wait."""
        self._session.write(note="queued", key=key)

    def routed(self, to, why, before=None):
        """Notes that commands go to the server of this name from here on."""
        came_from = {"from": before} if before else {}
        self._session.write(note="routed", to=to, why=why, **came_from)


def serve(adapter):
    """Answers the harness until it closes or standard input ends; then the program ends."""
    output = os.fdopen(os.dup(1), "wb")
    # Whatever the library prints is no answer.
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    adapter._session = Session(adapter, output)
    asyncio.run(adapter._session.run())


def _left_out(ruling):
    if ruling.result() is not None:
        ruling.result()(Answer("failed", text="its watchdog was stopped before it was sent"))


def _mark(mark):
    """Text as it is, and bytes as text if they are."""
    try:
        return mark if isinstance(mark, str) else mark.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(mark).decode()}
