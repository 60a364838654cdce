package lockstorm.adapter;

import com.google.gson.JsonObject;

/** Answers of the protocol. */
final class Answers {
    /** Longest text, so that a library's words never make a line too long. */
    private static final int TEXT_MAX = 4000;

    private Answers() {}

    static JsonObject is(String word) {
        JsonObject answer = new JsonObject();
        answer.addProperty("is", word);
        return answer;
    }

    static boolean is(JsonObject answer, String word) {
        return answer.get("is").getAsString().equals(word);
    }

    static JsonObject said(String word, String text) {
        JsonObject answer = is(word);
        answer.addProperty("text", shortened(String.valueOf(text)));
        return answer;
    }

    /** The answer to a call that threw; when in doubt, that it may have had an effect. */
    static JsonObject thrown(Throwable error) {
        if (error instanceof NotOwnerException) {
            return is("not-owner");
        }
        if (error instanceof UnsupportedException) {
            return said("unsupported", error.getMessage());
        }
        if (error instanceof FailedException || error instanceof Request.Malformed) {
            return said("failed", error.getMessage());
        }
        return said("error", text(error));
    }

    /** Type and message of what was thrown, and of its causes. */
    static String text(Throwable error) {
        StringBuilder text = new StringBuilder(one(error));
        Throwable cause = error.getCause();
        while (cause != null && text.length() < TEXT_MAX) {
            text.append("; caused by ").append(one(cause));
            cause = cause.getCause();
        }
        return shortened(text.toString());
    }

    private static String one(Throwable error) {
        String type = error.getClass().getSimpleName();
        return error.getMessage() == null ? type : type + ": " + error.getMessage();
    }

    private static String shortened(String text) {
        return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + " ...";
    }
}
