package io.limiter.spring.aot;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

/** What is generated of a context that is processed ahead of time. */
public record Processed(TestGenerationContext generation, ClassName initializer) {
    /** Of a context that is not started, and is closed. */
    public static Processed of(GenericApplicationContext context) {
        TestGenerationContext generation = new TestGenerationContext();
        try (context) {
            return new Processed(
                    generation, new ApplicationContextAotGenerator().processAheadOfTime(context, generation));
        }
    }

    /** Compiles it, and starts such a context with it, in AOT mode in this JVM. */
    public void start(Supplier<GenericApplicationContext> context, Consumer<GenericApplicationContext> test) {
        generation.writeGeneratedContent();
        TestCompiler.forSystem().with(generation).compile(compiled -> {
            @SuppressWarnings("unchecked") // as every initializer that is generated
            ApplicationContextInitializer<GenericApplicationContext> generated =
                    (ApplicationContextInitializer<GenericApplicationContext>)
                            compiled.getInstance(ApplicationContextInitializer.class, initializer.toString());
            System.setProperty("spring.aot.enabled", "true");
            try (GenericApplicationContext fresh = context.get()) {
                generated.initialize(fresh);
                fresh.refresh();
                test.accept(fresh);
            } finally {
                System.clearProperty("spring.aot.enabled");
            }
        });
    }
}
