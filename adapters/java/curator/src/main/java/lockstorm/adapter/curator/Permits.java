package lockstorm.adapter.curator;

import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Target;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/** The library's semaphore, whose permits it calls leases. */
final class Permits implements Recipe {
    private final InterProcessSemaphoreV2 semaphore;

    /** The permits of each grant, the last first. */
    private final Deque<Collection<Lease>> held = new ArrayDeque<>();

    Permits(CuratorFramework curator, String path, int permits) {
        semaphore = new InterProcessSemaphoreV2(curator, path, permits);
    }

    @Override
    public Grant take(Target target, long patienceMs) throws Exception {
        Collection<Lease> taken =
                semaphore.acquire(target.permits(), patienceMs, TimeUnit.MILLISECONDS);
        if (taken == null) {
            return Grant.refused();
        }
        held.push(taken);
        Grant grant = Grant.granted();
        taken.forEach(lease -> grant.mark(lease.getNodeName()));
        return grant;
    }

    @Override
    public void giveBack(Target target) throws NotOwnerException {
        if (held.isEmpty()) {
            throw new NotOwnerException();
        }
        semaphore.returnAll(held.pop());
    }
}
