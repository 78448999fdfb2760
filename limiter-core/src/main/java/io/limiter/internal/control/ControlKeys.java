package io.limiter.internal.control;

import java.util.List;

/**
 * The keys of a group in Redis, all in one slot of a cluster. Only publishers may write below {@code limiter-control}; the reports
 * of instances are elsewhere, and no instance reads them.
 */
public record ControlKeys(String group) {
    /** The largest text that is published or taken, in bytes. */
    public static final int MOST_BYTES = 262_144;

    /** What the record of a text has besides it, at most. */
    public static final int RECORD_BYTES = 2_000;

    /** How many overrides and switches may be in force. */
    public static final int MOST_DIRECTIVES = 10_000;

    /** So many of them are left for switches, so that overrides never keep an operator from one. */
    public static final int FOR_SWITCHES = 100;

    /** How many versions are kept. */
    public static final int VERSIONS = 50;

    private String key(String name) {
        return "limiter-control:{" + group + "}:" + name;
    }

    /** What instances look at: the {@link Head}. */
    public String head() {
        return key("head");
    }

    /** A published text. */
    public String text(long version) {
        return key("text:" + version);
    }

    /** A text about which instances are asked. */
    public String candidate() {
        return key("candidate");
    }

    /** Directives by their revision, with those that were removed in the last day. */
    public String directives() {
        return key("directives");
    }

    /** The directives in force, by id. */
    public String directivesById() {
        return key("directives-by-id");
    }

    /** All of them by their end. */
    public String directivesByEnd() {
        return key("directives-by-end");
    }

    /** Who changed what: the last thousand changes. */
    public String audit() {
        return key("audit");
    }

    /** A key that never exists. */
    public String unused() {
        return key("unused");
    }

    /** The reports of instances, and the limits of policies, as instances report them. */
    public List<String> reports() {
        return List.of("limiter-report:{" + group + "}:instances", "limiter-report:{" + group + "}:policies");
    }
}
