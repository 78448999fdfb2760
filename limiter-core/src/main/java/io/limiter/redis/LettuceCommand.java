package io.limiter.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A command as Lettuce sends it: words, which are written into its buffer as they are, and the values of the reply. Ends once, on Lettuce's thread or on that of the sender.
 */
final class LettuceCommand extends io.lettuce.core.protocol.Command<String, String, List<Object>> {
    private static final int CRLF = '\r' << 8 | '\n';

    /** Gets the reply, or the reason why there is none. */
    interface Ended {
        void accept(LettuceCommand command, @Nullable List<Object> reply, @Nullable Throwable failure);
    }

    /** Its elements one after the other: no reply has lists in a list. */
    private static final class Reply extends CommandOutput<String, String, List<Object>> {
        Reply() {
            super(StringCodec.UTF8, new ArrayList<>());
        }

        @Override
        public void set(long number) {
            output.add(number);
        }

        @Override
        public void set(@Nullable ByteBuffer bytes) {
            output.add(bytes == null ? null : codec.decodeValue(bytes));
        }
    }

    private final List<?> words;
    private final AtomicReference<@Nullable Ended> ended;
    /** Whether a byte of it may have left. Of the thread that writes. */
    private boolean isWritten;

    /** @param words the first is the name of a command */
    LettuceCommand(List<?> words, Ended ended) {
        super(CommandType.valueOf((String) words.get(0)), new Reply());
        this.words = words;
        this.ended = new AtomicReference<>(ended);
    }

    boolean isWritten() {
        return isWritten;
    }

    @Override
    public void encode(ByteBuf to) {
        isWritten = true;
        writeCount(to, '*', words.size());
        for (Object word : words) {
            String text = (String) word;
            writeCount(to, '$', ByteBufUtil.utf8Bytes(text));
            ByteBufUtil.writeUtf8(to, text);
            to.writeShort(CRLF);
        }
    }

    private static void writeCount(ByteBuf to, char type, int count) {
        to.writeByte(type);
        to.writeCharSequence(Integer.toString(count), StandardCharsets.US_ASCII);
        to.writeShort(CRLF);
    }

    @Override
    public void complete() {
        super.complete();
        if (output.hasError()) {
            end(null, new ErrorReply(Objects.requireNonNullElse(output.getError(), "")));
        } else {
            end(output.get(), null);
        }
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        super.completeExceptionally(failure);
        return end(null, failure);
    }

    @Override
    public void cancel() {
        super.cancel();
        end(null, new CancellationException());
    }

    private boolean end(@Nullable List<Object> reply, @Nullable Throwable failure) {
        Ended to = ended.getAndSet(null);
        if (to != null) {
            to.accept(this, reply, failure);
        }
        return to != null;
    }
}
