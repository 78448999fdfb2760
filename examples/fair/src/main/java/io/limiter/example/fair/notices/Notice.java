package io.limiter.example.fair.notices;

/** A notice as a voter reads it. */
public record Notice(long id, Kind kind, String title, String text) {
    /** Whom it is for. The more important kind first. */
    public enum Kind {
        /** One voter. */
        PERSONAL,
        /** Everybody. */
        GLOBAL
    }
}
