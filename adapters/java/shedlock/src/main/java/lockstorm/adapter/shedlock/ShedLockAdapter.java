package lockstorm.adapter.shedlock;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.FailedException;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.jdbc.Databases;
import lockstorm.adapter.lettuce.Connections;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider.Configuration;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.jdbc.core.JdbcTemplate;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An adapter of Lockstorm around ShedLock's {@link RedisLockProvider}, or its provider on a table
 * where the servers are those of a database. Arguments: the version of ShedLock, and what is not
 * the default: {@code safe} for {@code safeUpdate}, {@code dbtime} for {@code usingDbTime}.
 */
public final class ShedLockAdapter implements Adapter {
    /** The table of the library's documentation. */
    private static final String TABLE =
            "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) NOT NULL, lock_until"
                    + " TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL, locked_by"
                    + " VARCHAR(255) NOT NULL, PRIMARY KEY (name))";

    private final Map<String, SimpleLock> held = new HashMap<>();
    private final List<String> options;
    private LockProvider provider;
    private Duration lease;

    private ShedLockAdapter(List<String> options) {
        this.options = options;
    }

    public static void main(String[] args) {
        List<String> options = List.of(args).subList(1, args.length);
        String name = options.isEmpty() ? "" : " + " + String.join(" + ", options);
        Adapter.serve("ShedLock" + name, args[0], new ShedLockAdapter(options));
    }

    @Override
    public Abilities open(Client client) {
        lease = client.neededLease();
        if (Databases.have(client)) {
            provider = onTable(client, options.contains("dbtime"));
            return Databases.abilities(client);
        }
        boolean safe = options.contains("safe");
        provider = new RedisLockProvider.Builder(Connections.of(client)).safeUpdate(safe).build();
        return Connections.abilities(client).serverKey("job-lock:default:{key}");
    }

    /**
     * The provider on a table. The library calls the holder by the name of its machine: clients
     * stand for as many machines.
     */
    private static LockProvider onTable(Client client, boolean usesDbTime) {
        Configuration.Builder asked =
                Configuration.builder()
                        .withJdbcTemplate(new JdbcTemplate(Databases.with(client, TABLE)))
                        .withLockedByValue(client.identity().orElse(client.name()));
        return new JdbcTemplateLockProvider((usesDbTime ? asked.usingDbTime() : asked).build());
    }

    @Override
    public Grant acquire(Target target) {
        var asked = new LockConfiguration(Instant.now(), target.key(), lease, Duration.ZERO);
        Optional<SimpleLock> lock = provider.lock(asked);
        lock.ifPresent(one -> held.put(target.key(), one));
        return Grant.of(lock.isPresent());
    }

    @Override
    public Optional<Duration> renew(Target target) {
        Optional<SimpleLock> longer = held(target).extend(lease, Duration.ZERO);
        held.put(target.key(), longer.orElseThrow(NotOwnerException::new));
        return Optional.empty();
    }

    /** Gives it back; the library's unlock tells nothing. */
    @Override
    public Release release(Target target) {
        held(target).unlock();
        held.remove(target.key());
        return Release.ownershipUnknown();
    }

    private SimpleLock held(Target target) {
        return Optional.ofNullable(held.get(target.key()))
                .orElseThrow(() -> new FailedException("this client was never granted the lock"));
    }
}
