package io.limiter.kit;

/** How often a seeded test repeats what it does: a few times in every build, many times with {@code -Dtests.many=true}. */
public final class Repeats {
    static final boolean MANY = Boolean.getBoolean("tests.many");

    private Repeats() {}

    /** The first number, or the second one where the build asked for many. */
    public static int of(int few, int many) {
        return MANY ? many : few;
    }
}
