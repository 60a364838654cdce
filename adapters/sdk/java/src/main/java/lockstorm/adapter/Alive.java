package lockstorm.adapter;

/** Whether a client goes on as the holder. */
public enum Alive {
    /** The library has said nothing to the contrary. */
    HELD,
    /** The library says that the lock is lost, or never gave it. */
    NOT_OWNER,
    /** The library says that it does not know. */
    SUSPENDED
}
