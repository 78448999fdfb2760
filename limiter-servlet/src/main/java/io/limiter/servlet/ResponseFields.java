package io.limiter.servlet;

import java.util.Collection;

/** The fields of a response that is not committed yet. Independent of the servlet API. */
interface ResponseFields {
    /** All lines of a field, in their order; empty if there are none. */
    Collection<String> get(String name);

    /** Replaces all lines of a field by one. */
    void set(String name, String value);

    /** Adds a line to a field. */
    void add(String name, String value);
}
