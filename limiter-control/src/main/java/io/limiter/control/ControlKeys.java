package io.limiter.control;

/**
 * The keys of a group in Redis, all in one slot of a cluster. Only publishers may write below {@code limiter-control}; the reports
 * of instances are elsewhere, and no instance reads them.
 */
record ControlKeys(String group) {
    /** How many texts are kept. */
    static final int VERSIONS = 100;

    private String key(String name) {
        return "limiter-control:{" + group + "}:" + name;
    }

    /** What instances look at: the {@linkplain Published#head head}. */
    String current() {
        return key("current");
    }

    /** A published text. */
    String text(long version) {
        return key("text:" + version);
    }

    /** Who published a version, when and why. */
    String change(long version) {
        return key("change:" + version);
    }

    /** An override or switch. */
    String entry(String hash) {
        return key("entry:" + hash);
    }

    /** The reports of instances. */
    String reports() {
        return "limiter-report:{" + group + "}:instances";
    }
}
