package io.limiter.config;

import io.limiter.config.HttpSettings.Headers;
import io.limiter.config.HttpSettings.MethodOverride;
import io.limiter.config.HttpSettings.Reset;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Makes the settings of HTTP of their entries, and notes everything that is wrong with them. Used once. */
final class HttpBinder {
    private static final Pattern CLASS_NAME = Pattern.compile("\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*"
            + "(\\.\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*)*");
    private static final Pattern ONE_FORM = Pattern.compile("(?i)draft-(?:8|08|9|09|10|11)");
    private static final int LONGEST_CLASS_NAME = 500;

    private final Binder binder;
    private final Map<String, ConfigEntry> entries;
    private final Problems problems;

    HttpBinder(Binder binder, Map<String, ConfigEntry> entries, Problems problems) {
        this.binder = binder;
        this.entries = entries;
        this.problems = problems;
    }

    HttpSettings bind() {
        HttpSettings defaults = HttpSettings.DEFAULT;
        if (!Keys.isAny(Keys.HTTP, entries.keySet())) {
            return defaults;
        }
        Headers headers = value(Keys.HTTP_HEADERS, defaults.headers(), HttpBinder::headers);
        Reset reset = value(
                Keys.HTTP_X_RATELIMIT_RESET,
                defaults.reset(),
                text -> Binder.choice(text, "way to tell a reset", Reset.values()));
        MethodOverride override = value(
                Keys.HTTP_METHOD_OVERRIDE,
                defaults.methodOverride(),
                text -> Binder.choice(text, "kind of override", MethodOverride.values()));
        checkReset(headers);
        String handler = value(Keys.HTTP_REJECTION_HANDLER, "", HttpBinder::className);
        return new HttpSettings(
                headers,
                reset,
                value(Keys.HTTP_EXPOSE_HEADERS, defaults.exposeHeaders(), HttpBinder::yes),
                value(Keys.HTTP_IGNORE_CASE, defaults.ignoreCase(), HttpBinder::yes),
                value(Keys.HTTP_IGNORE_TRAILING_SLASH, defaults.ignoreTrailingSlash(), HttpBinder::yes),
                override,
                handler.isEmpty() ? null : handler);
    }

    private static Headers headers(String text) {
        // Drafts 8 to 11 have one wire form.
        return ONE_FORM.matcher(text).matches()
                ? Headers.DRAFT_10
                : Binder.choice(text, "form of headers", Headers.values());
    }

    private void checkReset(Headers headers) {
        ConfigEntry reset = entries.get(Keys.HTTP_X_RATELIMIT_RESET);
        if (reset != null && headers != Headers.X_RATELIMIT) {
            problems.add(
                    Problems.CONTRADICTION,
                    reset,
                    "only x-ratelimit has a choice of resets; add " + Keys.HTTP_HEADERS
                            + " = x-ratelimit, or remove this line");
        }
    }

    private <T> T value(String key, T fallback, Function<String, T> function) {
        return binder.bound(entries.get(key), fallback, function);
    }

    private static boolean yes(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("neither yes nor no; write true or false");
        };
    }

    private static String className(String text) {
        if (text.length() > LONGEST_CLASS_NAME || !CLASS_NAME.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "no name of a class; write it with its package, such as com.example.MyRejections");
        }
        return text;
    }
}
