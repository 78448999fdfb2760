package io.limiter.spring.expression;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NativeDetector;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * An expression that becomes byte code when it is used much. Byte code holds for the types it was made for, so one whose types
 * change is interpreted for good after a few tries: the language's own ways would make a class, under a lock, every hundred
 * calls. Thread-safe.
 */
final class AdaptiveExpression {
    private static final int USED_MUCH = 100;
    private static final int TRIES = 3;

    private final SpelExpression expression;
    private final AtomicInteger uses;
    private final AtomicInteger failures = new AtomicInteger();

    /** A native image can make no classes. */
    AdaptiveExpression(SpelExpression expression) {
        this(expression, !NativeDetector.inNativeImage());
    }

    AdaptiveExpression(SpelExpression expression, boolean compiles) {
        this.expression = expression;
        this.uses = new AtomicInteger(compiles ? 0 : USED_MUCH);
    }

    /** The value; null as context for one that names nothing. */
    @Nullable
    Object value(@Nullable EvaluationContext context) {
        if (context == null) {
            return expression.getValue();
        }
        if (uses.get() < USED_MUCH && uses.incrementAndGet() == USED_MUCH) {
            expression.compileExpression();
        }
        try {
            return expression.getValue(context);
        } catch (SpelEvaluationException failed) {
            if (failed.getMessageCode() != SpelMessage.EXCEPTION_RUNNING_COMPILED_EXPRESSION) {
                throw failed;
            }
            expression.revertToInterpreted();
            if (failures.incrementAndGet() < TRIES) {
                uses.set(0);
            }
            return expression.getValue(context);
        }
    }
}
