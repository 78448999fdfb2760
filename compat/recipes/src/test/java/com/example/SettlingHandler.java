package com.example;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.PartialToolCallContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.model.output.TokenUsage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Passes everything on, and tells the usage at the end; if the stream fails or is cancelled, what was sent, or null for nothing. */
public class SettlingHandler implements StreamingChatResponseHandler {
    private final StreamingChatResponseHandler handler;
    private final int promptTokens;
    private final Consumer<TokenUsage> end;
    private final AtomicInteger characters = new AtomicInteger();

    public SettlingHandler(StreamingChatResponseHandler handler, int promptTokens, Consumer<TokenUsage> end) {
        this.handler = handler;
        this.promptTokens = promptTokens;
        this.end = end;
    }

    private TokenUsage sent() {
        int sent = characters.get();
        return sent == 0 ? null : new TokenUsage(promptTokens, sent / 3 + 1);
    }

    private StreamingHandle observed(StreamingHandle handle) {
        return new StreamingHandle() {
            @Override
            public void cancel() {
                handle.cancel();
                end.accept(sent());
            }

            @Override
            public boolean isCancelled() {
                return handle.isCancelled();
            }
        };
    }

    @Override
    public void onCompleteResponse(ChatResponse response) {
        end.accept(response.tokenUsage());
        handler.onCompleteResponse(response);
    }

    @Override
    public void onError(Throwable error) {
        end.accept(sent());
        handler.onError(error);
    }

    @Override
    public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
        characters.addAndGet(part.text().length());
        handler.onPartialResponse(part, new PartialResponseContext(observed(context.streamingHandle())));
    }

    @Override
    public void onPartialThinking(PartialThinking part, PartialThinkingContext context) {
        characters.addAndGet(part.text().length());
        handler.onPartialThinking(part, new PartialThinkingContext(observed(context.streamingHandle())));
    }

    @Override
    public void onPartialToolCall(PartialToolCall part, PartialToolCallContext context) {
        handler.onPartialToolCall(part, new PartialToolCallContext(observed(context.streamingHandle())));
    }

    @Override
    public void onPartialResponse(String part) {
        characters.addAndGet(part.length());
        handler.onPartialResponse(part);
    }

    @Override
    public void onPartialThinking(PartialThinking part) {
        characters.addAndGet(part.text().length());
        handler.onPartialThinking(part);
    }

    @Override
    public void onPartialToolCall(PartialToolCall part) {
        handler.onPartialToolCall(part);
    }

    @Override
    public void onCompleteToolCall(CompleteToolCall call) {
        handler.onCompleteToolCall(call);
    }

    @Override
    public void onUnmappedRawEvent(Object event) {
        handler.onUnmappedRawEvent(event);
    }
}
