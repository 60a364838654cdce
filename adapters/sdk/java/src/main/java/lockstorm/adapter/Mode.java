package lockstorm.adapter;

/** How a lock is asked for or held. */
public enum Mode {
    /** Alone. */
    WRITE,
    /** Together with other readers. */
    READ
}
