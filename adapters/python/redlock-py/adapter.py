"""An adapter of Lockstorm around SPSCommerce's redlock-py: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: one manager for all
locks, on the addresses of the servers.
"""

from importlib.metadata import version
from time import monotonic

from redlock import Lock, Redlock

from lockstorm_adapter import UNKNOWN, Adapter, Unsupported, granted, serve


class TracedRedlock(Redlock):
    """The library's manager; it keeps when its last try began, and how many refused each."""

    def lock_instance(self, server, *args):
        if server is self.servers[0]:
            self.began, self.noes = monotonic(), [*self.noes, 0]
        is_granted = super().lock_instance(server, *args)
        self.noes[-1] += not is_granted
        return is_granted


class RedlockPy(Adapter):
    """One client of the lock."""

    name, version = "redlock-py", version("redlock-py")
    promises = ("survives-minority",)

    def open(self, client):
        if client.lease is None:
            raise Unsupported("it has no lock that never expires")
        self.lease, self.locks = int(client.lease * 1000), {}
        # Two commands in each try, with eleven tries of redis-py's: see the README.
        self.answers_within = Redlock.default_retry_count * len(client.servers) * 1240
        self.follow(client.servers)

    def follow(self, servers):
        self.redlock = TracedRedlock([{"host": host, "port": port} for host, port in servers])

    def acquire(self, key, wait):
        redlock, begun, left = self.redlock, monotonic(), wait or 0
        redlock.noes, lock = [], False
        while not lock and left >= 0:
            tries = 1 + int(left / redlock.default_retry_delay)
            redlock.retry_count = min(redlock.default_retry_count, tries)
            lock = redlock.lock(key, self.lease)
            left = begun + (wait or 0) - monotonic()
        if not lock:
            return UNKNOWN if min(redlock.noes) < redlock.quorum else False
        self.locks[key] = lock
        lease = lock.validity / 1000 + monotonic() - redlock.began
        return granted(lease, marks=[lock.key], waited=redlock.began - begun)

    def release(self, key):
        # It tells nothing, and swallows errors.
        self.redlock.unlock(self.locks.get(key) or Lock(0, key, self.redlock.get_unique_id()))
        return UNKNOWN


serve(RedlockPy())
