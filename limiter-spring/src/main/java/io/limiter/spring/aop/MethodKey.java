package io.limiter.spring.aop;

import io.limiter.PartitionKey;
import io.limiter.rule.KeyForm;
import java.security.Principal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whose quota a call uses. Immutable. */
final class MethodKey {
    static final String HOW_TO_HAVE_REQUESTS = "give a key of parameters, such as key = \"#user\", or key = \"global\""
            + " for one quota of all callers (requests are known in Spring MVC, or from a CallerSource)";

    /** Of a list that a client may have written; each part is kept in the key. */
    private static final int MOST_PARTS = 32;

    /** Whether a class says what its objects are. Those that do not would be a new client with each object. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException unknown) {
                return false;
            }
        }
    };

    private enum Kind {
        CLIENT,
        GLOBAL,
        EXPRESSION
    }

    private final MethodSite site;
    private final Kind kind;
    private final @Nullable CallExpression expression;
    private final List<@Nullable String> words;

    private MethodKey(MethodSite site, Kind kind, @Nullable CallExpression expression) {
        this.site = site;
        this.kind = kind;
        this.expression = expression;
        this.words = expression == null ? List.of() : expression.words();
    }

    /**
     * The key that the attribute says. The words {@code ip} and {@code global} alone, and no text, evaluate nothing.
     *
     * @throws IllegalStateException if the expression is wrong, or there is no key and never a request
     */
    static MethodKey of(MethodSite site, String text) {
        String word = text.strip();
        if (word.equals("global")) {
            return new MethodKey(site, Kind.GLOBAL, null);
        }
        if (word.isEmpty() && !site.isInRequests()) {
            throw noRequest(site);
        }
        boolean client = word.isEmpty() || (word.equals("ip") && site.isInRequests());
        return client
                ? new MethodKey(site, Kind.CLIENT, null)
                : new MethodKey(site, Kind.EXPRESSION, CallExpression.parse(site, "key", text));
    }

    static IllegalStateException noRequest(MethodSite site) {
        return Wrong.at(
                Wrong.NO_KEY,
                site.toString(),
                "the key is the client's address, and " + site.whyNoRequest() + "; " + HOW_TO_HAVE_REQUESTS);
    }

    /** How the keys of all calls look. */
    KeyForm form() {
        if (kind == Kind.GLOBAL) {
            return KeyForm.global();
        }
        KeyForm.Builder form = KeyForm.builder();
        if (kind == Kind.CLIENT || expression == null) {
            return form.address().build();
        }
        if (!expression.isListOfParts() && expression.mayBeKeyOrList()) {
            return KeyForm.any();
        }
        for (String word : words) {
            if (isAddress(word)) {
                form.address();
            } else {
                form.text(kindOf(word));
            }
        }
        return form.build();
    }

    /**
     * The key of a call.
     *
     * @throws IllegalStateException if there is none: outside of a request, or what the expression gives is no text
     */
    PartitionKey of(MethodCall call) {
        if (kind == Kind.GLOBAL) {
            return PartitionKey.global();
        }
        if (kind == Kind.CLIENT || expression == null) {
            Caller caller = call.caller(site.callers());
            if (caller == null) {
                throw noRequest(site);
            }
            return PartitionKey.of(caller.address());
        }
        Object value = expression.value(call);
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
                add(part, i < words.size() ? words.get(i) : null, key, call, expression);
                i++;
            }
        } else {
            add(value, words.get(0), key, call, expression);
        }
        return key.build();
    }

    /**
     * Adds a part as the filter's rules do: an address as it is, everything else with its kind, so that who calls himself
     * like an address does not use up what its client has. A part that is missing never switches a limit off: the
     * client's address stands in, or outside of a request what all of those share.
     */
    private void add(
            @Nullable Object part,
            @Nullable String word,
            PartitionKey.Builder key,
            MethodCall call,
            CallExpression of) {
        String text = text(part, of);
        if (text.isEmpty()) {
            Caller caller = call.caller(site.callers());
            key.addStandIn(caller == null ? "" : caller.address());
        } else if (isAddress(word)) {
            key.add(text);
        } else {
            key.add(kindOf(word), text);
        }
    }

    private static boolean isAddress(@Nullable String word) {
        return "ip".equals(word);
    }

    private static String kindOf(@Nullable String word) {
        return "user".equals(word) || "principal".equals(word) ? "user" : "key";
    }

    /** A native image knows the methods of few classes; there the text itself tells. */
    private static boolean hasText(Object part) {
        return HAS_TEXT.get(part.getClass())
                || !part.toString().equals(part.getClass().getName() + "@" + Integer.toHexString(part.hashCode()));
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
        if (part instanceof PartitionKey || part instanceof Collection || part instanceof Map || !hasText(part)) {
            throw of.unusable(
                    "a part of type " + part.getClass().getName(),
                    "give a text, a number or something else that has one text: #order.id, not #order");
        }
        return part.toString();
    }
}
