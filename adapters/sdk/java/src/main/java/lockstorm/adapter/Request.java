package lockstorm.adapter;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A JSON object of the harness's. Fields that are not as they must be throw {@link Malformed}. */
final class Request {
    /** Words on what a request must be and is not. */
    static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Malformed(String text) {
            super(text);
        }
    }

    private final JsonObject json;

    private Request(JsonObject json) {
        this.json = json;
    }

    static Request read(String line) {
        try {
            JsonElement json = JsonParser.parseString(line);
            if (json.isJsonObject()) {
                return new Request(json.getAsJsonObject());
            }
        } catch (JsonParseException error) {
            // Said below, in our words.
        }
        throw new Malformed("a line must be one JSON object");
    }

    JsonObject json() {
        return json;
    }

    boolean has(String field) {
        return json.has(field) && !json.get(field).isJsonNull();
    }

    String text(String field) {
        return textIfAny(field).orElseThrow(() -> new Malformed("'" + field + "' is missing"));
    }

    Optional<String> textIfAny(String field) {
        return primitive(field, "a text").map(value -> asText(field, value));
    }

    boolean flag(String field) {
        return primitive(field, "true or false").map(JsonPrimitive::getAsBoolean).orElse(false);
    }

    long number(String field) {
        return numberIfAny(field).orElseThrow(() -> new Malformed("'" + field + "' is missing"));
    }

    /** A whole number of 64 bits without a sign; Java shows the upper half as negative. */
    Optional<Long> numberIfAny(String field) {
        return primitive(field, "a whole number").map(value -> asNumber(field, value));
    }

    Duration millis(String field) {
        return Duration.ofMillis(number(field));
    }

    Optional<Duration> millisIfAny(String field) {
        return numberIfAny(field).map(Duration::ofMillis);
    }

    Duration micros(String field) {
        return Duration.of(number(field), ChronoUnit.MICROS);
    }

    Optional<Request> within(String field) {
        if (!has(field)) {
            return Optional.empty();
        }
        if (!json.get(field).isJsonObject()) {
            throw new Malformed("'" + field + "' must be an object");
        }
        return Optional.of(new Request(json.getAsJsonObject(field)));
    }

    List<Server> servers(String field) {
        if (!has(field) || !json.get(field).isJsonArray()) {
            throw new Malformed("'" + field + "' must be a list of servers");
        }
        List<Server> servers = new ArrayList<>();
        for (JsonElement server : json.getAsJsonArray(field)) {
            if (!server.isJsonObject()) {
                throw new Malformed("'" + field + "' must be a list of servers");
            }
            servers.add(server(new Request(server.getAsJsonObject())));
        }
        return servers;
    }

    Target target() {
        String mode = textIfAny("mode").orElse("write");
        if (!mode.equals("write") && !mode.equals("read")) {
            throw new Malformed("'mode' must be 'write' or 'read', and is '" + mode + "'");
        }
        return new Target(
                text("key"),
                mode.equals("read") ? Mode.READ : Mode.WRITE,
                permits(),
                millisIfAny("wait_ms").orElse(null));
    }

    int permits() {
        long permits = numberIfAny("permits").orElse(1L);
        if (permits < 1 || permits > Integer.MAX_VALUE) {
            throw new Malformed("'permits' must be 1 or more, and is " + permits);
        }
        return (int) permits;
    }

    private Optional<JsonPrimitive> primitive(String field, String kind) {
        if (!has(field)) {
            return Optional.empty();
        }
        if (!json.get(field).isJsonPrimitive()) {
            throw new Malformed("'" + field + "' must be " + kind);
        }
        return Optional.of(json.getAsJsonPrimitive(field));
    }

    private static String asText(String field, JsonPrimitive value) {
        if (!value.isString()) {
            throw new Malformed("'" + field + "' must be a text");
        }
        return value.getAsString();
    }

    private static long asNumber(String field, JsonPrimitive value) {
        try {
            if (value.isNumber()) {
                return Long.parseUnsignedLong(value.getAsString());
            }
        } catch (NumberFormatException error) {
            // Said below, in our words.
        }
        throw new Malformed("'" + field + "' must be a whole number, 0 or more");
    }

    private static Server server(Request server) {
        String address = server.text("address");
        int colon = address.lastIndexOf(':');
        try {
            int port = Integer.parseInt(address.substring(colon + 1));
            if (colon > 0 && port > 0 && port < 1 << 16) {
                return new Server(server.text("name"), address.substring(0, colon), port);
            }
        } catch (NumberFormatException error) {
            // Said below, in our words.
        }
        throw new Malformed("'address' must be 'ip:port', and is '" + address + "'");
    }
}
