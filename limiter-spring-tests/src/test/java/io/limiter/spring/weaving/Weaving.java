package io.limiter.spring.weaving;

/** How the classes of this run are woven: set by the build, which runs the same tests for each. */
enum Weaving {
    NONE,
    LOAD_TIME,
    COMPILE_TIME;

    /** The system property that sets it; none unless set. */
    static final String PROPERTY = "limiter.weaving";

    static Weaving now() {
        return switch (System.getProperty(PROPERTY, "none")) {
            case "none" -> NONE;
            case "load-time" -> LOAD_TIME;
            case "compile-time" -> COMPILE_TIME;
            default ->
                throw new IllegalStateException(
                        PROPERTY + " = " + System.getProperty(PROPERTY) + "; write none, load-time or compile-time");
        };
    }
}
