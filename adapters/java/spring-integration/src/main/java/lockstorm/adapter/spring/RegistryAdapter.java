package lockstorm.adapter.spring;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Adapter;
import lockstorm.adapter.Client;
import lockstorm.adapter.Gate;
import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Release;
import lockstorm.adapter.Target;
import lockstorm.adapter.lettuce.Connections;

import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;

/** An adapter of Lockstorm around Spring Integration's {@link RedisLockRegistry}. */
public final class RegistryAdapter implements Adapter {
    private RedisLockRegistry registry;
    private Gate gate;
    private Target asked;

    public static void main(String[] args) {
        String version = RedisLockRegistry.class.getPackage().getImplementationVersion();
        Adapter.serve("Spring Integration RedisLockRegistry", version, new RegistryAdapter());
    }

    @Override
    public Abilities open(Client client) {
        registry = new RedisLockRegistry(Connections.of(client), "locks", client.neededLease());
        gate = client.gate();
        if (client.renewEvery().isPresent()) {
            registry.setRenewalTaskScheduler(new GatedScheduler());
        }
        Abilities abilities = Connections.abilities(client).serverKey("locks:{key}");
        return abilities.promises("keeps-alive", "reentrant");
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
        } catch (IllegalStateException error) {
            throw new NotOwnerException(error);
        }
    }

    @Override
    public Release release(Target target) {
        try {
            registry.obtain(target.key()).unlock();
            return Release.released();
        } catch (IllegalStateException | ConcurrentModificationException error) {
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
