package lockstorm.adapter.curator;

import lockstorm.adapter.Grant;
import lockstorm.adapter.Target;

/** A lock or a semaphore of Curator's, by its path. */
interface Recipe {
    /** Tries to take it, for so many milliseconds at most. */
    Grant take(Target target, long patienceMs) throws Exception;

    /** Gives it back. */
    void giveBack(Target target) throws Exception;
}
