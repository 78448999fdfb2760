package io.limiter.spring.boot.actuate;

import io.limiter.PartitionKey;
import io.limiter.config.KeyPart;
import io.limiter.config.LimiterConfig;
import io.limiter.config.RuleDefinition;
import io.limiter.spring.aop.AnnotatedPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How the keys look that rules and annotations make for a policy. Who asks for another one sees a whole quota, of a client that does not
 * exist, and must not take it for that of the one he means.
 */
final class KeyForms {
    private static final String ADDRESS = "<address>";
    private static final String TEXT = "<text>";
    private static final String ALL = "*";

    private final Set<String> forms = new TreeSet<>();
    private boolean open;

    /** Those of a policy. */
    KeyForms(String policy, LimiterConfig config, List<AnnotatedPolicy> annotated) {
        for (RuleDefinition rule : config.rules()) {
            if (rule.policy().name().equals(policy)) {
                forms.add(form(rule.key()));
            }
        }
        for (AnnotatedPolicy one : annotated) {
            if (one.policy().name().equals(policy)) {
                add(one.key().strip());
            }
        }
    }

    /** What to tell of a key that none of them makes; null when one does, or that is not known. */
    @Nullable
    String note(String policy, PartitionKey key) {
        if (open || forms.isEmpty() || forms.stream().anyMatch(form -> fits(form, key.canonical()))) {
            return null;
        }
        return "no rule and no annotation makes such a key for '" + policy + "'; theirs look like "
                + String.join(" or ", forms);
    }

    private static String form(List<KeyPart> parts) {
        return parts.isEmpty() ? ALL : parts.stream().map(KeyForms::form).collect(Collectors.joining(":"));
    }

    /** As the filter calls them. */
    private static String form(KeyPart part) {
        String name = part.name();
        return switch (part.kind()) {
            case IP -> ADDRESS;
            case USER, SESSION -> part.kind().text() + "=" + TEXT;
            case HEADER, COOKIE, PATH ->
                part.kind().text() + "."
                        + (part.kind() == KeyPart.Kind.HEADER
                                ? String.valueOf(name).toLowerCase(Locale.ROOT)
                                : name)
                        + "=" + TEXT;
        };
    }

    /** Of an expression. What a bean or a method gives may be a whole key, and then anything. */
    private void add(String expression) {
        if (expression.isEmpty() || expression.equals("global")) {
            forms.add(expression.isEmpty() ? ADDRESS : ALL);
            return;
        }
        if (expression.indexOf('@') >= 0 || expression.indexOf('(') >= 0) {
            open = true;
            return;
        }
        boolean several = expression.startsWith("{") && expression.endsWith("}");
        List<String> parts = new ArrayList<>();
        for (String part : (several ? expression.substring(1, expression.length() - 1) : expression).split(",")) {
            parts.add(
                    switch (part.strip()) {
                        case "ip" -> ADDRESS;
                        case "user", "principal" -> "user=" + TEXT;
                        default -> "key=" + TEXT;
                    });
        }
        forms.add(String.join(":", parts));
    }

    private static boolean fits(String form, String canonical) {
        String[] expected = form.split(":");
        String[] parts = canonical.split(":");
        boolean fits = expected.length == parts.length;
        for (int i = 0; fits && i < parts.length; i++) {
            boolean named = expected[i].endsWith("=" + TEXT);
            fits = named
                    // Where a part is missing, the client's address stands in.
                    ? parts[i].startsWith(expected[i].substring(0, expected[i].length() - TEXT.length()))
                            || parts[i].startsWith("@")
                    : parts[i].indexOf('=') < 0 && parts[i].equals(ALL) == expected[i].equals(ALL);
        }
        return fits;
    }
}
