"""An adapter of Lockstorm around kazoo's locks: docs/adapter-protocol.md. With the argument `rw` they
are `ReadLock` and `WriteLock`, and without one `Lock`.

A client has one session for all that it holds. The library pings its member by itself, and takes
its connection for lost after two thirds of the session without an answer: so long a holder relies
on it. Listeners are told when the session is suspended or lost.
"""

import sys

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout
from kazoo.version import __version__

from lockstorm_adapter import Adapter, Unsupported, granted, serve


HAS_READERS = sys.argv[1:] == ["rw"]


class KazooLock(Adapter):
    """One client of the lock."""

    name, version = "kazoo rw" if HAS_READERS else "kazoo", __version__
    can, promises = ("always-renews",), ("keeps-alive", "survives-minority", "tells-of-loss")
    if HAS_READERS:
        promises += ("shared-readers",)

    def open(self, client):
        if client.lease is None:
            raise Unsupported("its locks go with a session, which has an end")
        hosts = ",".join(f"{host}:{port}" for host, port in client.servers)
        self.lease, self.identity, self.locks = client.lease, client.identity, {}
        self.client = KazooClient(hosts, timeout=client.lease * 3 / 2)
        self.client.add_listener(self.turned)
        self.client.start()

    def turned(self, state):
        """Passes on what the library says of the session."""
        notes = {KazooState.SUSPENDED: self.suspended, KazooState.LOST: self.lost}
        for (key, mode), lock in list(self.locks.items()):
            if lock.is_acquired:
                notes.get(state, self.resumed)(key, mode)

    def lock(self, key, mode):
        if not HAS_READERS and mode != "write":
            raise Unsupported("mode must be write")
        readers = {"read": self.client.ReadLock, "write": self.client.WriteLock}
        kind = readers[mode] if HAS_READERS else self.client.Lock
        return kind("/" + key.replace("/", "%2F"), self.identity)

    def acquire(self, key, mode, wait):
        lock = self.lock(key, mode)
        try:
            is_mine = lock.acquire(blocking=wait is not None, timeout=wait)
        except LockTimeout:
            return False
        if not is_mine:
            return False
        self.locks[key, mode] = lock
        return granted(self.lease, marks=[lock.node])

    def release(self, key, mode):
        return (self.locks.get((key, mode)) or self.lock(key, mode)).release()


serve(KazooLock())
