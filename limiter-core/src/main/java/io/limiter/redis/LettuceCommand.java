package io.limiter.redis;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.List;

/**
 * A command as Lettuce sends it: words, which are written into its buffer as they are, and the values of the reply. Ends
 * once: on the sender's thread if the client does not take it, else on that of the connection. The client's own commands, by
 * {@code dispatch(type, output, args)}, decide 9 % less with 512 asynchronous callers.
 */
final class LettuceCommand extends io.lettuce.core.protocol.Command<String, String, List<Object>> {
    private static final int CRLF = '\r' << 8 | '\n';

    private final List<?> words;
    private final Command.Receiver receiver;

    /** @param words the first is the name of a command */
    LettuceCommand(List<?> words, Command.Receiver receiver) {
        super(CommandType.valueOf((String) words.get(0)), new ArrayOutput<>(StringCodec.UTF8));
        this.words = words;
        this.receiver = receiver;
    }

    @Override
    public void encode(ByteBuf to) {
        writeCount(to, '*', words.size());
        for (Object word : words) {
            writeCount(to, '$', ByteBufUtil.utf8Bytes((String) word));
            ByteBufUtil.writeUtf8(to, (String) word);
            to.writeShort(CRLF);
        }
    }

    private static void writeCount(ByteBuf to, char type, int count) {
        to.writeByte(type);
        ByteBufUtil.writeAscii(to, Integer.toString(count));
        to.writeShort(CRLF);
    }

    @Override
    public void complete() {
        if (!isDone()) {
            super.complete();
            String error = output.getError();
            receiver.accept(error == null ? output.get() : null, error == null ? null : new ErrorReply(error));
        }
    }

    /** By a connection that closes, for what it has not sent. */
    @Override
    public void cancel() {
        completeExceptionally(new ConnectionLost("the connection was closed before it was sent"));
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean isFirst = !isDone();
        super.completeExceptionally(failure);
        if (isFirst) {
            receiver.accept(null, failure);
        }
        return isFirst;
    }
}
