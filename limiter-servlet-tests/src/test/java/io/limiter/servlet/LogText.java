package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * What is logged until it is closed, kept off the console. Classes run side by side: it has only the lines of the thread that makes it and of all threads that
 * came from it since its class began, those of a server that it started, say.
 */
public final class LogText implements AutoCloseable {
    /** The class that a thread works for, whichever thread has started it. */
    private static final InheritableThreadLocal<Object> OWNER = new InheritableThreadLocal<>();

    private static final List<LogText> OPEN = new CopyOnWriteArrayList<>();

    static {
        System.setErr(new PrintStream(new Shared(System.err), true, StandardCharsets.UTF_8));
    }

    private final Object owner = OWNER.get();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public LogText() {
        assertTrue(owner != null, "the extension is not registered");
        OPEN.add(this);
    }

    /** Waits for it: another thread may log what it has done already. */
    public void has(String words) {
        try {
            Await.until(words, () -> toString().contains(words));
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + " is logged; what was:\n" + this, e);
        }
    }

    @Override
    public String toString() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        OPEN.remove(this);
    }

    /** For each class, before its first thread: see META-INF/services. */
    public static final class Owners implements BeforeAllCallback {
        @Override
        public void beforeAll(ExtensionContext context) {
            OWNER.set(new Object());
        }
    }

    /** The error output of all classes. */
    private static final class Shared extends OutputStream {
        private final PrintStream usual;

        Shared(PrintStream usual) {
            this.usual = usual;
        }

        @Override
        public void write(int octet) {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] octets, int from, int length) {
            Object owner = OWNER.get();
            boolean isKept = false;
            for (LogText one : OPEN) {
                if (one.owner == owner) {
                    one.bytes.write(octets, from, length);
                    isKept = true;
                }
            }
            if (!isKept) {
                usual.write(octets, from, length);
            }
        }
    }
}
