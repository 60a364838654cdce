package lockstorm.adapter.curator;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Mode;
import lockstorm.adapter.Target;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

import java.util.concurrent.TimeUnit;

/** The library's lock of readers and writers. */
final class ReadWrite implements Recipe {
    private final InterProcessReadWriteLock lock;

    ReadWrite(CuratorFramework curator, String path) {
        lock = new InterProcessReadWriteLock(curator, path);
    }

    @Override
    public Grant take(Target target, long patienceMs) throws Exception {
        return Grant.of(of(target).acquire(patienceMs, TimeUnit.MILLISECONDS));
    }

    @Override
    public void giveBack(Target target) throws Exception {
        Mutex.releaseOwned(of(target));
    }

    private InterProcessMutex of(Target target) {
        return target.mode() == Mode.READ ? lock.readLock() : lock.writeLock();
    }
}
