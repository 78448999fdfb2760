package io.limiter.spring.expression;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

class AdaptiveExpressionTest {
    private static final int FIRST_CALLS = 1_000;
    private static final int CALLS = 20_000;

    public record Person(String name) {}

    public record Company(String name) {}

    @Test
    void typesThatChangeAreInterpretedAfterAFewTries() {
        AdaptiveExpression expression = expression();
        StandardEvaluationContext person = new StandardEvaluationContext(new Person("ann"));
        StandardEvaluationContext company = new StandardEvaluationContext(new Company("acme"));
        for (int i = 0; i < FIRST_CALLS; i++) {
            assertEquals("ann", expression.value(person));
            assertEquals("acme", expression.value(company));
        }
        long before = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
        for (int i = 0; i < CALLS; i++) {
            assertEquals("ann", expression.value(person));
            assertEquals("acme", expression.value(company));
        }
        long made = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount() - before;
        assertTrue(made < 10, made + " classes for " + CALLS + " calls");
    }

    private static AdaptiveExpression expression() {
        return new AdaptiveExpression(new SpelExpressionParser(new SpelParserConfiguration(
                        SpelCompilerMode.OFF, AdaptiveExpressionTest.class.getClassLoader()))
                .parseRaw("name"));
    }
}
