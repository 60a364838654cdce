//! The one table of our own locks.

/// Hands the table to another macro, so that who needs something of each lock (its options here,
/// its algorithm in the harness) cannot forget one.
///
/// A line is: what the lock does and promises, as readers of `lockstorm list locks` and of the
/// schema see it; its word in scenario files; its name in code, with the struct of its options;
/// the topologies on which it makes sense; the commands that it sends, those that its scripts call
/// included; its [features](crate::LockFeature); what it promises
/// beyond what [every lock](crate::Promise::OF_EVERY_LOCK) does; and the Redissons that it can
/// behave like, the oldest first, where they do not all do alike. The locks of libraries, which
/// adapters drive, are none of these.
#[macro_export]
macro_rules! with_every_lock {
    ($callback:ident) => {
        $callback! {
            /// no lock at all: everybody is granted everything, and the damage shows
            "none" => NoLock(NoLock) on ONE_MASTER,
                sends [], has [SingleRequest], promises [], eras [];
            /// SETNX then EXPIRE, plain DEL: the broken ancestor; promises little
            "setnx" => Setnx(Setnx) on ONE_MASTER,
                sends ["SETNX", "EXPIRE", "DEL"], has [BlindRelease], promises [], eras [];
            /// SET NX PX, plain DEL: expires, but who is late deletes another's lock
            "plain-del" => PlainDel(PlainDel) on ONE_MASTER,
                sends ["SET", "PEXPIRE", "DEL"],
                has [BlindRelease, SingleRequest], promises [], eras [];
            /// SET NX PX with a random value, compare-and-delete: exclusive as long as its one
            /// server remembers
            "token" => Token(Token) on ONE_MASTER,
                sends ["SET", "EVAL", "GET", "DEL", "PEXPIRE"], has [SingleRequest],
                promises [], eras [];
            /// token, granted only when enough replicas acknowledge it by WAIT: survives the loss
            /// of a write, not of a node's memory
            "token-wait" => TokenWait(TokenWait) on WITH_REPLICAS,
                sends ["SET", "EVAL", "GET", "DEL", "PEXPIRE", "WAIT"],
                has [ReplicaWait, SingleRequest], promises [SurvivesFailover], eras [];
            /// token with a counter from the same script: who checks it at the resource refuses a
            /// stale holder
            "token-fenced" => TokenFenced(Token) on ONE_MASTER,
                sends ["EVAL", "SET", "GET", "DEL", "PEXPIRE", "INCR"],
                has [SingleRequest, Tokens], promises [Fenced], eras [];
            /// the Redlock algorithm: a majority of independent nodes
            "redlock" => Redlock(Redlock) on MASTERS,
                sends ["SET", "EVAL", "GET", "DEL", "PEXPIRE"], has [Majority, SingleRequest],
                promises [SurvivesMinority], eras [];
            /// Redisson's `RLock`: reentrant, woken by pub/sub, renewed by a watchdog unless it has
            /// a lease
            "redisson" => Redisson(Redisson) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "EXISTS",
                    "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL", "GET", "SET", "DEL"],
                has [ReplicaWait], promises [KeepsAlive, Reentrant], eras [V3_10, V3_17, V4_7];
            /// Redisson's spin lock (from 3.15.0): `RLock` without pub/sub, tries again after 1, 2,
            /// 4 ... 128 ms
            "redisson-spin" => RedissonSpin(Redisson) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "EXISTS", "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL",
                    "GET", "SET", "DEL"],
                has [ReplicaWait], promises [KeepsAlive, Reentrant], eras [V3_17, V4_7];
            /// Redisson's fenced lock (from 3.19.0): `RLock` with a token that grows with each
            /// acquire
            "redisson-fenced" => RedissonFenced(Redisson) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "EXISTS",
                    "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL", "GET", "SET", "DEL", "INCR"],
                has [ReplicaWait, Tokens], promises [KeepsAlive, Reentrant, Fenced], eras [V4_7];
            /// Redisson's fair lock: a queue in order of arrival
            "redisson-fair" => RedissonFair(Fair) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "EXISTS",
                    "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL", "GET", "SET", "DEL", "LINDEX", "LPOP",
                    "RPUSH", "LRANGE", "LREM", "ZADD", "ZREM", "ZSCORE", "ZRANGE", "ZINCRBY"],
                has [ReplicaWait],
                promises [KeepsAlive, Reentrant, Fair], eras [V3_10, V3_17, V4_7];
            /// Redisson's read-write lock: readers share, a writer is alone
            "redisson-rw" => RedissonRw(Redisson) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "HEXISTS",
                    "HINCRBY", "HGET", "HSET", "HDEL", "HLEN", "HKEYS", "PEXPIRE", "PTTL", "GET",
                    "SET", "DEL"],
                has [ReplicaWait],
                promises [KeepsAlive, Reentrant, SharedReaders], eras [V3_10, V3_17, V4_7];
            /// Redisson's `MultiLock`: an `RLock` on every master; one that is down blocks it
            "redisson-multi" => RedissonMulti(Redisson) on MASTERS,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "EXISTS",
                    "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL", "GET", "SET", "DEL"],
                has [ReplicaWait], promises [KeepsAlive, Reentrant], eras [V3_10, V3_17, V4_7];
            /// Redisson's `RedLock`: an `RLock` on a majority of masters; one that is down takes
            /// seconds, and an unlock says nothing
            "redisson-red" => RedissonRed(Redisson) on MASTERS,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "EXISTS",
                    "HEXISTS", "HINCRBY", "PEXPIRE", "PTTL", "GET", "SET", "DEL"],
                has [Majority, ReplicaWait],
                promises [KeepsAlive, Reentrant, SurvivesMinority], eras [V3_10, V3_17, V4_7];
            /// Redisson's semaphore: counts permits; nobody takes back those of the dead
            "redisson-semaphore" => RedissonSemaphore(Semaphore) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "GET",
                    "SETNX", "INCRBY", "DECRBY"],
                has [ReplicaWait], promises [Permits], eras [];
            /// Redisson's semaphore with permits that expire, by the clocks of its clients
            "redisson-permits" => RedissonPermits(Permits) on ONE_MASTER,
                sends ["EVAL", "INFO", "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH", "GET",
                    "SETNX", "INCRBY", "DECRBY", "PTTL", "PEXPIRE", "ZADD", "ZREM", "ZSCORE",
                    "ZRANGE", "ZRANGEBYSCORE"],
                has [ReplicaWait], promises [Permits], eras [];
            /// etcd's `concurrency.Mutex`: a queue of keys bound to leases, kept by a majority of
            /// members
            "etcd-mutex" => EtcdMutex(EtcdMutex) on ETCD,
                sends [], has [Tokens],
                promises [KeepsAlive, SurvivesMinority, Fenced, Fair], eras [];
            /// etcd's lock request: the same queue, kept by the member that is asked; without a
            /// lease of its own it ends after 60 s, and an unlock says nothing
            "etcd-lock" => EtcdLock(EtcdLock) on ETCD,
                sends [], has [], promises [KeepsAlive, SurvivesMinority], eras [];
            /// ZooKeeper's queue of ephemeral sequential nodes, as its recipes and Curator's
            /// `InterProcessMutex` make it
            "zookeeper-mutex" => ZookeeperMutex(ZookeeperMutex) on ZOOKEEPER,
                sends [], has [Tokens],
                promises [KeepsAlive, SurvivesMinority, Fenced, Fair], eras [];
            /// A row of MySQL under a unique index: inserted to lock, deleted to unlock; a dead
            /// holder keeps it forever
            "mysql-unique-index" => MysqlUniqueIndex(MysqlUniqueIndex) on MARIADB,
                sends [], has [], promises [], eras [];
            /// MySQL's `GET_LOCK`: a name that a connection holds until it ends; the server alone
            /// knows of it, and the holder learns of an end when it next asks
            "mysql-get-lock" => MysqlGetLock(MysqlGetLock) on MARIADB,
                sends [], has [Session], promises [Reentrant], eras [];
            /// PostgreSQL's advisory lock of a session: a number that a connection holds until it
            /// ends; the server alone knows of it
            "postgres-advisory" => PostgresAdvisory(PostgresAdvisory) on POSTGRES,
                sends [], has [Session, Tokens], promises [Reentrant, Fenced], eras [];
            /// PostgreSQL's advisory lock of a transaction, which stays open while it is held: also
            /// through a pooler that lends connections for a transaction. A failover may give its
            /// token once more
            "postgres-advisory-xact" => PostgresAdvisoryXact(PostgresAdvisoryXact) on POSTGRES,
                sends [], has [Session, Tokens], promises [], eras [];
            /// A row of PostgreSQL that says who has the lock until when, by the server's clock;
            /// the token counts its holders
            "postgres-row-lease" => PostgresRowLease(PostgresRowLease) on POSTGRES,
                sends [], has [SingleRequest, Tokens], promises [Fenced], eras [];
        }
    };
}
