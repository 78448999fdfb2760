package io.limiter.kit;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** What a {@link Wire} does to pieces of replies. Only replies: the server has run what was asked. */
@FunctionalInterface
public interface Harm {
    /** Passes each piece on as it is. */
    Harm NONE = (piece, into) -> into.getOutputStream().write(piece);

    /** One of this number of pieces is harmed; the others are unchanged, so that connections recover now and then. */
    int ONE_OF = 3;

    /**
     * Passes on what the harm leaves of a piece.
     *
     * @throws IOException where the connection is to end
     */
    void pass(byte[] piece, Socket into) throws IOException;

    /** Each piece comes so much later. */
    static Harm delay(Duration by) {
        return (piece, into) -> {
            LockSupport.parkNanos(by.toNanos());
            NONE.pass(piece, into);
        };
    }

    /** Half of a piece, then the end of the connection. */
    static Harm truncate() {
        return now((piece, into) -> {
            NONE.pass(Arrays.copyOf(piece, piece.length / 2), into);
            throw new IOException("truncated");
        });
    }

    /** A reset in place of the piece. */
    static Harm reset() {
        return now((piece, into) -> {
            into.setSoLinger(true, 0);
            throw new IOException("reset");
        });
    }

    /** Bytes that are no reply in place of the piece. The connection stays. */
    static Harm garble() {
        return now((piece, into) -> {
            byte[] noise = new byte[piece.length];
            ThreadLocalRandom.current().nextBytes(noise);
            // No reply begins like this, so the harm can't produce another valid reply.
            noise[0] = '?';
            NONE.pass(noise, into);
        });
    }

    private static Harm now(Harm harm) {
        return (piece, into) -> {
            boolean harmed = ThreadLocalRandom.current().nextInt(ONE_OF) == 0;
            (harmed ? harm : NONE).pass(piece, into);
        };
    }
}
