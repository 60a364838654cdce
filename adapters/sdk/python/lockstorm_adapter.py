"""Everything of an adapter but the lock: docs/adapter-protocol.md.

Make a subclass of `Adapter` that opens, takes and gives back the lock of your library, and call
`serve` with it. What the library raises becomes the answer that is safe: an error, which says that
nobody knows whether it had an effect.
"""

import json
import socket
import sys

PROTOCOL = 1


class NotOwner(Exception):
    """The library says that the lock is not this client's."""


class Failed(Exception):
    """It certainly had no effect: the library or a server refused to do it."""


class Unsupported(Exception):
    """The library cannot do that at all."""


class Adapter:
    """One client of a library's lock. The methods raise the exceptions above, or any other."""

    name = "a lock"
    version = ""
    #: Abilities beside those that all adapters have, as in the protocol.
    can = ()
    #: Promises beyond those of every lock: `lockstorm list promises`.
    promises = ()

    def open(self, client):
        """Makes ready. `client` has `servers` (pairs of host and port), `lease` and `patience` in
        seconds (`lease` is None for a lock that never expires), `seed`, and `open`, the request as
        it came."""

    def follow(self, servers):
        """Writes go to these servers from now on."""
        raise Unsupported("it stays with its servers")

    def acquire(self, key):
        """Tries once. True or False, or a table of the fields of `granted`, such as `token`."""
        raise NotImplementedError

    def renew(self, key):
        """Extends the lease."""
        raise Unsupported("it does not renew")

    def release(self, key):
        """Gives the lock back."""
        raise NotImplementedError

    def alive(self, key):
        """Tells whether the client goes on as the holder, without asking a server."""
        return key in self.held


class Client:
    """What `open` says."""

    def __init__(self, request):
        self.open = request
        self.servers = endpoints(request["servers"])
        lease = request.get("lease_ms")
        self.lease = None if lease is None else lease / 1000
        self.patience = request["reply_timeout_ms"] / 1000
        self.seed = request["seed"]


def endpoints(servers):
    """Host and port of each server."""
    split = (server["address"].rsplit(":", 1) for server in servers)
    return [(host, int(port)) for host, port in split]


def connect_from(source):
    """Lets every connection of this program come from this address: by it a faulty network knows
    whose it is. Nothing else of the library is changed."""
    plain = socket.socket.connect

    def connect(self, address):
        if self.family == socket.AF_INET and self.getsockname()[1] == 0:
            self.bind((source, 0))
        return plain(self, address)

    socket.socket.connect = connect


def answer(kind, **fields):
    """An answer of the protocol."""
    return {"is": kind, **fields}


def opened(adapter, request):
    """Opens the client."""
    connect_from(request["source"])
    adapter.held = set()
    adapter.open(Client(request))
    return answer("opened", can=["source", *adapter.can], promises=list(adapter.promises))


def carried_out(adapter, request):
    """What comes of a request of an open client."""
    word, key = request["do"], request.get("key")
    if request.get("mode", "write") != "write" or request.get("permits", 1) != 1:
        return answer("unsupported", text="it has one holder, who writes")
    if word == "acquire":
        granted = adapter.acquire(key)
        if not granted and not isinstance(granted, dict):
            return answer("refused")
        adapter.held.add(key)
        return answer("granted", **(granted if isinstance(granted, dict) else {}))
    if word == "renew":
        adapter.renew(key)
        return answer("renewed")
    if word == "release":
        adapter.release(key)
        adapter.held.discard(key)
        return answer("released")
    if word == "alive":
        return answer("held" if adapter.alive(key) else "not-owner")
    if word == "servers":
        adapter.follow(endpoints(request["servers"]))
        return answer("done")
    if word == "touch":
        return answer("done")
    return answer("unsupported", text=word)


def reply(adapter, request):
    """The answer to a request, whatever the library raises."""
    word = request["do"]
    try:
        if word == "hello":
            return answer("hello", protocol=PROTOCOL, name=adapter.name, version=adapter.version)
        if word == "close":
            return answer("done")
        if word == "open":
            return opened(adapter, request)
        return carried_out(adapter, request)
    except NotOwner:
        adapter.held.discard(request.get("key"))
        return answer("not-owner")
    except Failed as error:
        return answer("failed", text=str(error))
    except Unsupported as error:
        return answer("unsupported", text=str(error))
    except Exception as error:  # When in doubt: it may have had an effect.
        return answer("error", text=f"{type(error).__name__}: {error}")


def serve(adapter):
    """Answers requests until the harness closes."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **reply(adapter, request)}), flush=True)
        if request["do"] == "close":
            break
