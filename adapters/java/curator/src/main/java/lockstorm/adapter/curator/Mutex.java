package lockstorm.adapter.curator;

import lockstorm.adapter.Grant;
import lockstorm.adapter.NotOwnerException;
import lockstorm.adapter.Target;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

import java.util.concurrent.TimeUnit;

/** The library's mutex, which says to those who extend it where its node is. */
final class Mutex extends InterProcessMutex implements Recipe {
    Mutex(CuratorFramework curator, String path) {
        super(curator, path);
    }

    @Override
    public Grant take(Target target, long patienceMs) throws Exception {
        if (!acquire(patienceMs, TimeUnit.MILLISECONDS)) {
            return Grant.refused();
        }
        String path = getLockPath();
        return Grant.granted().mark(path.substring(path.lastIndexOf('/') + 1));
    }

    @Override
    public void giveBack(Target target) throws Exception {
        releaseOwned(this);
    }

    /** Gives a mutex back, which only the thread can that has it. */
    static void releaseOwned(InterProcessMutex mutex) throws Exception {
        if (!mutex.isOwnedByCurrentThread()) {
            throw new NotOwnerException();
        }
        mutex.release();
    }
}
