package lockstorm.adapter.spring;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.Gate;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.jdbc.Databases;
import lockstorm.adapter.lettuce.Connections;

import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.locks.Lock;

import javax.sql.DataSource;

/**
 * An adapter of Lockstorm around Spring Integration's {@link RedisLockRegistry}, or its {@link
 * JdbcLockRegistry} where the servers are those of a database.
 */
public final class RegistryAdapter implements Adapter {
    /** The table of the library's scripts, with the type of a time. */
    private static final String TABLE =
            "CREATE TABLE IF NOT EXISTS INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100)"
                    + " NOT NULL, CLIENT_ID CHAR(36), CREATED_DATE %1$s NOT NULL, EXPIRED_AFTER"
                    + " %1$s NOT NULL, PRIMARY KEY (LOCK_KEY, REGION))";

    private RenewableLockRegistry<? extends Lock> registry;
    private Gate gate;
    private Target asked;

    public static void main(String[] args) {
        String version = RedisLockRegistry.class.getPackage().getImplementationVersion();
        Adapter.serve("Spring Integration LockRegistry", version, new RegistryAdapter());
    }

    @Override
    public Abilities open(Client client) {
        Duration lease = client.neededLease();
        if (Databases.have(client)) {
            registry = new JdbcLockRegistry(repository(client), lease);
            return Databases.abilities(client).promises("reentrant");
        }
        RedisLockRegistry onRedis =
                new RedisLockRegistry(Connections.of(client), "locks", lease);
        gate = client.gate();
        if (client.renewEvery().isPresent()) {
            onRedis.setRenewalTaskScheduler(new GatedScheduler());
        }
        registry = onRedis;
        Abilities abilities = Connections.abilities(client).serverKey("locks:{key}");
        return abilities.promises("keeps-alive", "reentrant");
    }

    /** The repository of a database, as a context of Spring starts it. */
    private static DefaultLockRepository repository(Client client) {
        String time = Databases.isMariadb(client) ? "DATETIME(6)" : "TIMESTAMP";
        DataSource pool = Databases.with(client, String.format(TABLE, time));
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new DataSourceTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        return repository;
    }

    @Override
    public Grant acquire(Target target) {
        asked = target;
        return Grant.of(registry.obtain(target.key()).tryLock());
    }

    @Override
    public Optional<Duration> renew(Target target) {
        try {
            registry.renewLock(target.key());
            return Optional.empty();
        } catch (IllegalStateException | IllegalMonitorStateException error) {
            throw new NotOwnerException(error);
        }
    }

    @Override
    public Release release(Target target) {
        try {
            registry.obtain(target.key()).unlock();
            return Release.released();
        } catch (IllegalStateException
                | IllegalMonitorStateException
                | ConcurrentModificationException error) {
            throw new NotOwnerException(error);
        }
    }

    /** The scheduler that the registry is given for its renewals, each of which passes the gate. */
    private final class GatedScheduler extends ThreadPoolTaskScheduler {
        private static final long serialVersionUID = 1L;

        GatedScheduler() {
            initialize();
        }

        /** Renews as the registry's own task does, which keeps the outcome to itself. */
        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
            // The registry schedules its renewals before it grants what was asked for.
            Target target = asked;
            return super.scheduleWithFixedDelay(
                    () -> gate.pass(target, () -> renews(target)), delay);
        }

        private boolean renews(Target target) {
            renew(target);
            return true;
        }
    }
}
