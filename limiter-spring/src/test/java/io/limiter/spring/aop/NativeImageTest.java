package io.limiter.spring.aop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.springframework.expression.spel.SpelCompilerMode;

/** What is otherwise in a native image, where no class can be made. */
class NativeImageTest {
    @Test
    void expressionsBecomeNoByteCode() {
        assertEquals(SpelCompilerMode.OFF, CallExpression.mode(true));
        assertEquals(SpelCompilerMode.MIXED, CallExpression.mode(false));
    }
}
