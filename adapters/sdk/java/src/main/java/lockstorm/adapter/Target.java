package lockstorm.adapter;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** The lock that a call is about, and the way in which it is asked for or held. */
public final class Target {
    private final String key;
    private final Mode mode;
    private final int permits;
    private final Duration patience;

    Target(String key, Mode mode, int permits, Duration patience) {
        this.key = key;
        this.mode = mode;
        this.permits = permits;
        this.patience = patience;
    }

    /** Names a lock that has one holder, who writes. */
    public static Target of(String key) {
        return new Target(key, Mode.WRITE, 1, null);
    }

    /** Returns the name of the lock. */
    public String key() {
        return key;
    }

    /**
     * Returns the mode; always {@link Mode#WRITE} without the ability {@link Abilities#readers}.
     */
    public Mode mode() {
        return mode;
    }

    /** Returns how many permits; always 1 without the ability {@link Abilities#permits}. */
    public int permits() {
        return permits;
    }

    /** Returns how long to wait for the lock; empty without the ability {@link Abilities#waits}. */
    public Optional<Duration> patience() {
        return Optional.ofNullable(patience);
    }

    Target withoutPatience() {
        return new Target(key, mode, permits, null);
    }

    /** Compares key and mode: the number of permits makes it no other lock. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Target
                && key.equals(((Target) other).key)
                && mode == ((Target) other).mode;
    }

    @Override
    public int hashCode() {
        return Objects.hash(key, mode);
    }

    @Override
    public String toString() {
        return key + " (" + mode + ")";
    }
}
