package lockstorm.adapter.shedlock;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.FailedException;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.lettuce.Connections;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An adapter of Lockstorm around ShedLock's {@link RedisLockProvider}. Arguments: the version of
 * ShedLock, and {@code safe} where it is to be built with {@code safeUpdate}, which is not the
 * default.
 */
public final class ShedLockAdapter implements Adapter {
    private final Map<String, SimpleLock> held = new HashMap<>();
    private boolean safe;
    private LockProvider provider;
    private Duration lease;

    public static void main(String[] args) {
        ShedLockAdapter adapter = new ShedLockAdapter();
        adapter.safe = List.of(args).contains("safe");
        Adapter.serve("ShedLock" + (adapter.safe ? " + safeUpdate" : ""), args[0], adapter);
    }

    @Override
    public Abilities open(Client client) {
        lease = client.neededLease();
        provider = new RedisLockProvider.Builder(Connections.of(client)).safeUpdate(safe).build();
        return Connections.abilities(client).serverKey("job-lock:default:{key}");
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
