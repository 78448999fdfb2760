package io.limiter.spring.internal;

import io.limiter.PartitionKey;
import io.limiter.internal.rule.KeyForm;
import io.limiter.spring.Caller;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The key of a call, which selects the quota. Immutable. */
final class MethodKey {
    /** The most parts of a list, which a client may have written; each part is kept in the key. */
    private static final int MOST_PARTS = 32;

    private final MethodScope scope;
    /** The key of all calls; null if each has its own. */
    private final @Nullable PartitionKey only;
    /** Null if the key is the client's address. */
    private final @Nullable CallExpression expression;

    /** The kind of each part; empty for an address. */
    private final List<String> kinds;

    private final KeyForm form;
    private final boolean isMember;

    /**
     * The key of an attribute: {@code key}, or {@code member}, whose missing parts stay missing. The word {@code ip}
     * alone, and an empty text, need no evaluation.
     *
     * @throws IllegalStateException if the expression is wrong, or there is no key and never a request
     */
    MethodKey(MethodScope scope, String attribute, String text) {
        String word = text.strip();
        if (word.isEmpty() && !scope.isInRequests()) {
            throw scope.noRequest("the key is the client's address");
        }
        this.scope = scope;
        this.isMember = attribute.equals("member");
        this.expression = word.isEmpty() || (word.equals("ip") && scope.isInRequests())
                ? null
                : new CallExpression(scope, attribute, text);
        List<@Nullable String> words = expression == null ? List.of("ip") : expression.words();
        this.kinds = words.stream().map(MethodKey::kind).toList();
        Object constant = expression == null ? null : expression.constant();
        this.only = expression == null || constant == null || constant.equals("") ? null : of(constant, expression);
        this.form = PartitionKey.global().equals(only)
                ? KeyForm.GLOBAL
                : expression != null && expression.mayBeKeyOrList()
                        ? KeyForm.ANY
                        : KeyForm.of(words.stream().map(MethodKey::part).toList());
    }

    /** Whether all calls have the same. */
    boolean isConstant() {
        return only != null;
    }

    /** Its parts as expressions. */
    List<String> parts() {
        return expression == null ? List.of("ip") : expression.parts();
    }

    /** The form of the keys of all calls. */
    KeyForm form() {
        return form;
    }

    private static String part(@Nullable String word) {
        String kind = kind(word);
        return kind.isEmpty() ? KeyForm.ADDRESS : KeyForm.part(kind, CallExpression.FOLD.equals(word), false);
    }

    /**
     * The key of a call with these arguments.
     *
     * @throws IllegalStateException if there is none: outside of a request, or if the value of the expression is not a text
     */
    PartitionKey of(@Nullable Object[] arguments) {
        return only != null
                ? only
                : expression != null
                        ? of(expression.value(arguments), expression)
                        : PartitionKey.of(scope.requiredCaller().address());
    }

    private PartitionKey of(@Nullable Object value, CallExpression expression) {
        if (value instanceof PartitionKey key) {
            return key;
        }
        PartitionKey.Builder key = PartitionKey.builder();
        if (value instanceof Collection<?> parts) {
            if (parts.isEmpty() || parts.size() > MOST_PARTS) {
                throw expression.unusable(
                        parts.isEmpty() ? "an empty list" : "a list of " + parts.size(),
                        "give 1 to " + MOST_PARTS + " parts, or key = \"global\"");
            }
            int i = 0;
            for (Object part : parts) {
                add(text(part, expression), i < kinds.size() ? kinds.get(i) : "key", key);
                i++;
            }
        } else {
            add(text(value, expression), kinds.get(0), key);
        }
        return key.build();
    }

    /**
     * Adds a part as the filter's rules do: an address as it is, everything else with its kind, so that a user named
     * like an address does not use up the quota of that address. A missing part never disables a limit: it is replaced
     * by the client's address or, outside of a request, by a shared value.
     */
    private void add(String text, String kind, PartitionKey.Builder key) {
        if (text.isEmpty()) {
            Caller caller = isMember ? null : scope.caller();
            key.addStandIn(caller == null ? "" : caller.address());
        } else if (kind.isEmpty()) {
            key.add(text);
        } else {
            key.add(kind, text);
        }
    }

    private static String kind(@Nullable String word) {
        return "ip".equals(word) ? "" : "user".equals(word) || "principal".equals(word) ? "user" : "key";
    }

    private static String text(@Nullable Object part, CallExpression of) {
        if (part instanceof String known) {
            return known;
        }
        if (part == null) {
            return "";
        }
        if (part instanceof Principal principal) {
            return text(principal.getName(), of);
        }
        if (part instanceof Optional<?> optional) {
            return text(optional.orElse(null), of);
        }
        boolean isSeveral = part instanceof PartitionKey || part instanceof Collection || part instanceof Map;
        String text = isSeveral ? "" : part.toString();
        String type = part.getClass().getName();
        // With the text of Object.toString each object would be a new client.
        if (isSeveral || (text.startsWith(type) && text.equals(type + "@" + Integer.toHexString(part.hashCode())))) {
            throw of.unusable(
                    "a part of type " + type,
                    "give a text, a number or something else that has one text: #order.id, not #order");
        }
        return text;
    }
}
