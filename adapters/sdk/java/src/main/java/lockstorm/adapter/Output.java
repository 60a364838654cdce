package lockstorm.adapter;

import com.google.gson.JsonObject;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The lines that go to the harness, each in one piece. */
final class Output {
    private final OutputStream out;

    Output(OutputStream out) {
        this.out = out;
    }

    synchronized void write(JsonObject line) {
        try {
            out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException error) {
            throw new UncheckedIOException("the harness reads no more", error);
        }
    }
}
