package io.limiter.grpc;

import io.grpc.Status;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a google.rpc.Status with a google.rpc.RetryInfo. Written here, because they are few, and the classes of Protobuf
 * would bring their version into each application.
 */
final class RetryInfo {
    private static final String TYPE = "type.googleapis.com/google.rpc.RetryInfo";
    private static final long MICROS_PER_SECOND = 1_000_000;
    /** What a google.protobuf.Duration may have: 10 000 years. */
    private static final long MOST_SECONDS = 315_576_000_000L;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private RetryInfo() {}

    /** For a status, and the time until a call would be allowed. */
    static byte[] of(Status status, long micros) {
        RetryInfo delay = new RetryInfo()
                .number(1, Math.min(MOST_SECONDS, micros / MICROS_PER_SECOND))
                .number(2, micros % MICROS_PER_SECOND * 1_000);
        RetryInfo detail = new RetryInfo()
                .text(1, TYPE)
                .field(
                        2,
                        new RetryInfo()
                                .field(1, delay.bytes.toByteArray())
                                .bytes
                                .toByteArray());
        return new RetryInfo()
                .number(1, status.getCode().value())
                .text(2, String.valueOf(status.getDescription()))
                .field(3, detail.bytes.toByteArray())
                .bytes
                .toByteArray();
    }

    private RetryInfo number(int field, long value) {
        return varint(field << 3).varint(value);
    }

    private RetryInfo text(int field, String value) {
        return field(field, value.getBytes(StandardCharsets.UTF_8));
    }

    private RetryInfo field(int field, byte[] value) {
        varint(field << 3 | 2).varint(value.length).bytes.writeBytes(value);
        return this;
    }

    private RetryInfo varint(long value) {
        long rest = value;
        for (; rest > 0x7f; rest >>>= 7) {
            bytes.write((int) (rest & 0x7f | 0x80));
        }
        bytes.write((int) rest);
        return this;
    }
}
