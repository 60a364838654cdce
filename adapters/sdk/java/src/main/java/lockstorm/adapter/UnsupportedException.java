package lockstorm.adapter;

/** The library, or the adapter, cannot do that at all. */
public final class UnsupportedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The answer {@code unsupported}, with this text. */
    public UnsupportedException(String text) {
        super(text);
    }
}
