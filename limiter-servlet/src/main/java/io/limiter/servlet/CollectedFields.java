package io.limiter.servlet;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Fields that are collected in a map, for a response that somebody else writes. Lines of one field are joined to a list. */
record CollectedFields(Map<String, String> values) implements ResponseFields {
    @Override
    public Collection<String> get(String name) {
        String value = values.get(name);
        return value == null ? List.of() : List.of(value);
    }

    @Override
    public void set(String name, String value) {
        values.put(name, value);
    }

    @Override
    public void add(String name, String value) {
        values.merge(name, value, (first, second) -> first + ", " + second);
    }
}
