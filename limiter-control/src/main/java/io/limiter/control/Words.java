package io.limiter.control;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.LimitText;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The words of operators: texts, keys, limits and times. */
final class Words {
    /** A part that is a secret, in clear. */
    private static final Pattern SECRET =
            Pattern.compile("(^|:)(session|bearer|header|cookie|query)(\\.[^=:]*)?=(?!~)");

    private static final String USER = "user:";
    private static final String IPV6_NETWORK = "/64";

    private Words() {}

    /**
     * What a text changes of another one, in the words of the configuration: {@code limiter.plans.free.limits: 2/1m -> 20/1m}. A
     * key that one of them does not have is {@code (own)}: each instance has its own value.
     */
    static List<String> changes(String before, String text) {
        Map<String, String> now = values(LimiterConfig.builder(), "the text", before);
        Map<String, String> next = values(LimiterConfig.builder(), "the text", text);
        Set<String> keys = new LinkedHashSet<>(now.keySet());
        keys.addAll(next.keySet());
        return keys.stream()
                .filter(key -> !Objects.equals(now.get(key), next.get(key)))
                .map(key -> key + ": " + now.getOrDefault(key, "(own)") + " -> " + next.getOrDefault(key, "(own)"))
                .toList();
    }

    /**
     * Checks a text as far as that is possible without the configuration of an instance.
     *
     * @throws io.limiter.config.ConfigException with all mistakes
     */
    static void check(String text) {
        Published.checkText(text);
        LimiterConfig.Builder all = LimiterConfig.builder();
        values(all, "the text", text);
        all.checkOver();
    }

    /** Lays a text over a configuration; returns its properties. */
    static Map<String, String> values(LimiterConfig.Builder all, String source, String text) {
        try {
            return all.over(source, new StringReader(text));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /**
     * The key of a caller as an operator writes it: an address ({@code 192.0.2.1}; of IPv6 its network of 64 bits, or one that is
     * written with another length), {@code user:alice}, or a key as in the log ({@code header.x-api-key=~8d1a...}).
     *
     * @throws IllegalArgumentException if it is none; also for a secret in clear, which is stored as a hash
     */
    static PartitionKey key(String text) {
        String address = text.replaceFirst("/.*", "");
        if (IpAddress.parse(address) != null) {
            String network = text.indexOf(':') >= 0 && address.equals(text) ? text + IPV6_NETWORK : text;
            return PartitionKey.of(
                    network.equals(address)
                            ? Objects.requireNonNull(IpAddress.parse(address)).toString()
                            : IpNetwork.parse(network).withoutHostBits().toString());
        }
        int colon = text.indexOf(':');
        boolean isWord = colon > 0 && (text.startsWith(USER) || text.indexOf('=') < 0);
        PartitionKey key = isWord
                ? PartitionKey.builder()
                        .add(text.substring(0, colon), text.substring(colon + 1))
                        .build()
                : PartitionKey.parse(text);
        if (SECRET.matcher(key.canonical()).find()) {
            throw new IllegalArgumentException(
                    "a session, token, header, cookie or parameter is stored as a hash; write"
                            + " the key as the log of denials shows it, such as header.x-api-key=~ and 32 digits");
        }
        return key;
    }

    /** The end that is written as {@code 2h} from now, {@code 2026-12-01} or {@code 2026-12-01T08:00:00Z}. */
    static Instant until(String text, Instant now) {
        try {
            if (text.matches("\\d{4}-\\d{2}-\\d{2}")) {
                return LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
            }
            Duration left =
                    text.indexOf('T') > 0 ? Duration.between(now, Instant.parse(text)) : LimitText.parseDuration(text);
            return now.plus(left);
        } catch (DateTimeException | ArithmeticException wrong) {
            throw new IllegalArgumentException(
                    "until " + text + " is not a time; write 2h, 2026-12-01 or 2026-12-01T08:00:00Z", wrong);
        }
    }

    /** @param known the limits of the policy, as instances report them; null if none has */
    static List<String> notes(String policy, @Nullable String known, String limits) {
        if (known == null) {
            return List.of("no instance has reported a policy '" + policy + "'; this has no effect until one has it");
        }
        List<String> notes = new ArrayList<>();
        if (!limits.isEmpty() && LimitText.isLimits(known)) {
            List<Limit> now = LimitText.parseAll(known);
            for (Limit limit : LimitText.parseAll(limits)) {
                if (now.stream()
                        .noneMatch(one -> one.kind().equals(limit.kind())
                                && one.identity().equals(limit.identity()))) {
                    notes.add("RL-152 '" + limit + "' has another algorithm or period than '" + known
                            + "', so the caller begins with full quota");
                }
            }
        }
        return notes;
    }
}
