"""An adapter of Lockstorm around a lock on MongoDB's `findAndModify`: docs/adapter-protocol.md.

The lock is the one that applications write by themselves: a document with the name of the lock as
its `_id`, which an upsert creates where there is none. Nothing ends it but its holder.
"""

import uuid

import pymongo
from pymongo.errors import AutoReconnect, DuplicateKeyError

from lockstorm_adapter import UNKNOWN, Adapter, Unsupported, granted, serve


class FindAndModify(Adapter):
    """One client of the lock."""

    name, version = "findAndModify by pymongo", pymongo.version

    def open(self, client):
        if client.lease is not None:
            raise Unsupported("its locks have no lease")
        hosts = [f"{host}:{port}" for host, port in client.servers]
        self.owner = f"{client.identity}-{uuid.uuid4()}"
        self.locks = pymongo.MongoClient(hosts, directConnection=len(hosts) == 1).lockstorm.locks

    def acquire(self, key):
        mine = {"$setOnInsert": {"owner": self.owner}}
        try:
            before = self.locks.find_one_and_update({"_id": key}, mine, upsert=True)
        except DuplicateKeyError:
            return False
        except AutoReconnect:
            return UNKNOWN
        return granted(marks=[self.owner]) if before is None else False

    def release(self, key):
        try:
            return self.locks.find_one_and_delete({"_id": key, "owner": self.owner}) is not None
        except AutoReconnect:
            return UNKNOWN


serve(FindAndModify())
