package lockstorm.adapter;

/** The library says that the lock is not this client's. */
public final class NotOwnerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The answer {@code not-owner}, for no reason that needs a word. */
    public NotOwnerException() {}

    /** The answer {@code not-owner}, for what the library threw. */
    public NotOwnerException(Throwable cause) {
        super(cause);
    }
}
