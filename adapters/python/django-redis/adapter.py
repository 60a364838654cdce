"""An adapter of Lockstorm around `cache.lock` of django-redis: docs/adapter-protocol.md.

The library is used as its documentation shows it, with its own defaults: a cache in the settings
of Django, and a lock of it for each acquire.
"""

from functools import partial
from importlib.metadata import version
from time import monotonic

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import LockError, LockNotOwnedError

from lockstorm_adapter import Adapter, granted, only, serve


class DjangoRedis(Adapter):
    """One client of the lock."""

    name, version = "django-redis", version("django-redis")
    can, server_key = ("identity",), ":1:{key}"
    # A connection and two commands, with redis-py's time-outs: see the README.
    answers_within = 30
    not_owner, failed = LockNotOwnedError, LockError

    def open(self, client):
        self.lease, self.identity, self.locks = client.lease, client.identity, {}
        settings.configure(**settings_for(client))

    def lock(self, key):
        """A lock of the library's, as a user makes one for each use; it tells when it tries."""
        lock = cache.lock(key, timeout=self.lease)
        lock.do_acquire = partial(self.note_try, lock.do_acquire)
        return lock

    def note_try(self, do_acquire, token):
        self.began = monotonic()
        return do_acquire(token)

    def acquire(self, key, wait):
        lock, begun = self.lock(key), monotonic()
        if not lock.acquire(blocking=bool(wait), blocking_timeout=wait, token=self.identity):
            return False
        self.locks[key] = lock
        return granted(marks=[lock.local.token], waited=self.began - begun)

    def renew(self, key):
        return (self.locks.get(key) or self.lock(key)).reacquire()

    def release(self, key):
        (self.locks.get(key) or self.lock(key)).release()


def settings_for(client):
    """Settings of a Django project that has nothing but a cache on the servers of the client."""
    cache = {"BACKEND": "django_redis.cache.RedisCache"}
    if not client.sentinels:
        host, port = only(client.servers)
        return {"CACHES": {"default": {**cache, "LOCATION": f"redis://{host}:{port}/0"}}}
    master, sentinels, _ = client.sentinels
    options = {"CLIENT_CLASS": "django_redis.client.SentinelClient", "SENTINELS": sentinels}
    return {
        "DJANGO_REDIS_CONNECTION_FACTORY": "django_redis.pool.SentinelConnectionFactory",
        "CACHES": {"default": {**cache, "LOCATION": f"redis://{master}/0", "OPTIONS": options}},
    }


serve(DjangoRedis())
