package io.limiter.grpc;

import io.grpc.Status;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * The bytes of a google.rpc.Status with a google.rpc.RetryInfo. Written here, because they are few, and the classes of Protobuf
 * would bring their version into each application.
 */
final class RetryInfo {
    private static final byte[] TYPE = bytes("type.googleapis.com/google.rpc.RetryInfo");
    private static final long MICROS_PER_SECOND = 1_000_000;
    /** What a google.protobuf.Duration may have: 10 000 years. */
    private static final long MOST_SECONDS = 315_576_000_000L;

    private RetryInfo() {}

    /** For a status, and the time until a call would be allowed. */
    static byte[] of(Status status, long micros) {
        byte[] delay = join(
                number(1, Math.min(MOST_SECONDS, micros / MICROS_PER_SECOND)),
                number(2, micros % MICROS_PER_SECOND * 1_000));
        return join(
                number(1, status.getCode().value()),
                field(2, bytes(String.valueOf(status.getDescription()))),
                field(3, join(field(1, TYPE), field(2, field(1, delay)))));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] number(int field, long value) {
        return join(varint(field << 3), varint(value));
    }

    private static byte[] field(int field, byte[] value) {
        return join(varint(field << 3 | 2), varint(value.length), value);
    }

    /** Seven bits a byte; all but the last have the eighth. */
    private static byte[] varint(long value) {
        byte[] last = {(byte) (value & 0x7f)};
        return value <= 0x7f ? last : join(new byte[] {(byte) (value & 0x7f | 0x80)}, varint(value >>> 7));
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Stream.of(parts).forEach(all::writeBytes);
        return all.toByteArray();
    }
}
