package io.limiter.spring.expression;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** What is otherwise in a native image, where no class can be made. */
class NativeImageTest {
    private static final int MANY = 1_000;

    /** Counts how often it is to become byte code. */
    private static final class Counted extends SpelExpression {
        private final AtomicInteger compiled = new AtomicInteger();

        Counted(String text) {
            super(
                    text,
                    (SpelNodeImpl) new SpelExpressionParser().parseRaw(text).getAST(),
                    new SpelParserConfiguration());
        }

        @Override
        public boolean compileExpression() {
            compiled.incrementAndGet();
            return false;
        }
    }

    @Test
    void expressionsBecomeNoByteCode() {
        for (boolean nativeImage : new boolean[] {true, false}) {
            Counted expression = new Counted("length()");
            AdaptiveExpression adaptive = new AdaptiveExpression(expression, !nativeImage);
            for (int i = 0; i < MANY; i++) {
                assertEquals(3, adaptive.value(new StandardEvaluationContext("abc")));
            }
            assertEquals(nativeImage ? 0 : 1, expression.compiled.get());
        }
    }
}
