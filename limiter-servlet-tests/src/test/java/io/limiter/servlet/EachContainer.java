package io.limiter.servlet;

import io.limiter.kit.Repeats;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Runs a test on Tomcat and, where the test knows containers that are lax about paths, on a lax Jetty; in a long run on each container. What Jetty does otherwise than Tomcat is in every build: the paths in RuleScopeTest and
 * ExemptCallersTest, the ends of requests in InFlightTest, dispatches in DispatchTest, EmbeddedJettyTest, and all that a door does in ServletDoorTest.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(EachContainer.Provider.class)
@interface EachContainer {
    /** Of whichever list of containers the test takes. */
    final class Provider implements ArgumentsProvider {
        private static final Set<String> ALWAYS = Set.of("TOMCAT", "LAX_JETTY");

        @Override
        public Stream<Arguments> provideArguments(ParameterDeclarations parameters, ExtensionContext context) {
            Class<?> kinds = parameters.getFirst().orElseThrow().getParameterType();
            return Stream.of(kinds.getEnumConstants())
                    .filter(kind -> Repeats.of(1, 2) == 2 || ALWAYS.contains(kind.toString()))
                    .map(Arguments::of);
        }
    }
}
