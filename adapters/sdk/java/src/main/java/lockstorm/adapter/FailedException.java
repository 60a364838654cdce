package lockstorm.adapter;

/** The call certainly had no effect: a server, or the library itself, refused to do it. */
public final class FailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The answer {@code failed}, with this text. */
    public FailedException(String text) {
        super(text);
    }

    /** The answer {@code failed}, with the text of what the library threw. */
    public FailedException(Throwable cause) {
        super(Answers.text(cause), cause);
    }
}
