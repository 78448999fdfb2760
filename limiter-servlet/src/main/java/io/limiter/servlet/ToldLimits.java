package io.limiter.servlet;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the answer to one request tells of limits, in the fields of {@link EveryLimitFields}. A request can meet several
 * decisions, in another filter or on its way to another path; each writes the two lines anew. So a name stands once, and
 * no number contradicts the Retry-After of a later denial. Used by the one thread that has the request.
 */
final class ToldLimits {
    private final Map<String, Item> items = new LinkedHashMap<>();
    private final Map<String, String> lines = new LinkedHashMap<>();

    /**
     * What never changes of a limit.
     *
     * @param name quoted, as the fields have it
     * @param parameters its quota and its window
     */
    record LimitText(String name, String parameters) {}

    private record Item(LimitText text, LimitOutcome outcome) {}

    /** Of two with one name, the one that is nearer to its end is told: one policy for several keys, or in two filters. */
    void put(LimitText text, LimitOutcome outcome) {
        Item known = items.get(text.name());
        if (known == null || isCloser(outcome, known.outcome())) {
            items.put(text.name(), new Item(text, outcome));
        }
    }

    /** Writes what is told by now, beside a decision. Lines of others, who may have put their own, stay. */
    void write(String policyField, String field, Decision decision, ResponseFields response) {
        StringBuilder policies = new StringBuilder(128);
        StringBuilder values = new StringBuilder(64);
        for (Item item : items.values()) {
            String separator = values.isEmpty() ? "" : ", ";
            policies.append(separator)
                    .append(item.text().name())
                    .append(item.text().parameters());
            values.append(separator).append(item.text().name()).append(";r=");
            appendNumbers(decision, item.outcome(), values);
        }
        if (!items.isEmpty()) {
            replace(policyField, policies.toString(), response);
            replace(field, values.toString(), response);
        }
    }

    private void replace(String field, String line, ResponseFields response) {
        String former = lines.put(field, line);
        if (former == null) {
            response.add(field, line);
            return;
        }
        List<String> all = new ArrayList<>(response.get(field));
        int at = all.indexOf(former);
        if (at < 0) {
            // Somebody has reset the response.
            response.add(field, line);
            return;
        }
        all.set(at, line);
        response.set(field, all.get(0));
        all.stream().skip(1).forEach(other -> response.add(field, other));
    }

    private static void appendNumbers(Decision decision, LimitOutcome outcome, StringBuilder values) {
        values.append(Whole.clamped(outcome.remaining()));
        long seconds = Whole.seconds(outcome.nextMicros());
        if (seconds > 0 && !isAfterRetry(decision, seconds)) {
            values.append(";t=").append(Whole.clamped(seconds));
        }
    }

    /**
     * Retry-After should not be earlier than any {@code t} beside it. Those of the limits that deny are not later; one
     * that admits may refill much later, which does not matter to a client that another one denied, so it is left out.
     * A request that can never pass has no Retry-After: every {@code t} would read as one.
     */
    private static boolean isAfterRetry(Decision decision, long seconds) {
        return !decision.allowed()
                && (decision.retryAfterMicros() == LimitOutcome.NEVER
                        || seconds > Whole.seconds(decision.retryAfterMicros()));
    }

    private static boolean isCloser(LimitOutcome one, LimitOutcome than) {
        if (one.allowed() != than.allowed()) {
            return than.allowed();
        }
        return one.remaining() < than.remaining()
                || (one.remaining() == than.remaining() && one.nextMicros() > than.nextMicros());
    }
}
