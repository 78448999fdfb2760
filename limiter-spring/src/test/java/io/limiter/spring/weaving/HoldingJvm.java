package io.limiter.spring.weaving;

import java.io.IOException;

/** A JVM whose limited methods hold all permits until it is killed. */
final class HoldingJvm {
    static final String HOLDS = "holds all";

    private HoldingJvm() {}

    /** Arguments: the prefix of keys, the port of Redis. */
    public static void main(String[] arguments) throws Exception {
        try (Limited<InFlightMethodsTest.Model> limited = Limited.of(
                InFlightMethodsTest.Model.class,
                InFlightMethodsTest.HOLD_2S,
                InFlightMethodsTest.onRedis(arguments[0], arguments[1]))) {
            InFlightMethodsTest.Model model = limited.object();
            for (int i = 0; i < InFlightMethodsTest.LIMIT - 1; i++) {
                model.never();
            }
            model.neverMono().doOnSubscribe(held -> System.out.println(HOLDS)).subscribe();
            awaitKill();
        }
    }

    private static void awaitKill() throws IOException {
        // Also the end of who started it.
        System.in.read();
    }
}
