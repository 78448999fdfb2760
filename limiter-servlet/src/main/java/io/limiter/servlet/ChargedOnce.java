package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import jakarta.servlet.ServletRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What one request was charged already, kept as its attribute. A container brings a request through the filter again when
 * it forwards it, takes it up after asynchronous work, or when the filter is mapped twice; it is one request all the same.
 * Used by the one thread that has the request.
 */
final class ChargedOnce {
    private record Charged(String policy, PartitionKey key) {}

    private final Set<HttpRule> rules = new HashSet<>();
    private final Set<Charged> charged = new HashSet<>();

    private ChargedOnce() {}

    /** What the request was charged under this attribute name. */
    static ChargedOnce of(ServletRequest request, String attribute) {
        if (request.getAttribute(attribute) instanceof ChargedOnce known) {
            return known;
        }
        ChargedOnce fresh = new ChargedOnce();
        request.setAttribute(attribute, fresh);
        return fresh;
    }

    /** Whether the request has not met this rule yet; it has from now on. */
    boolean isFirst(HttpRule rule) {
        return rules.add(rule);
    }

    /** Those of the charges that the request has not met yet; it has met them from now on. */
    List<Charge> due(List<Charge> charges) {
        List<Charge> due = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            if (charged.add(new Charged(charge.policy().name(), charge.key()))) {
                due.add(charge);
            }
        }
        return due;
    }
}
