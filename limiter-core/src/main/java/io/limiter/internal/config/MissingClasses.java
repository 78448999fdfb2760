package io.limiter.internal.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds classes in entries that don't exist. The filter makes their objects later, one by one. */
public final class MissingClasses {
    /** Other text of these properties, such as {@code header:X-Plan} or {@code 10}, is not the name of a class. */
    private static final Pattern NAMED =
            Pattern.compile("(?:(?<rule>limiter\\.rules\\..+\\.)(?:(?:key|member)=class:|(?:cost|plan)=)"
                    + "|limiter\\.http\\.rejection-handler=)(?<type>[^0-9:-][^:]*)");

    private MissingClasses() {}

    /** The class that a property names; empty for none. */
    public static Optional<String> named(String key, String value) {
        Matcher named = NAMED.matcher(key + "=" + value);
        return named.matches() ? Optional.of(named.group("type")) : Optional.empty();
    }

    /** Notes them. */
    public static void note(List<ConfigEntry> entries, ClassLoader loader, Problems problems) {
        Map<String, ConfigEntry> byKey = new LinkedHashMap<>();
        entries.forEach(entry -> byKey.put(entry.key(), entry));
        for (ConfigEntry entry : byKey.values()) {
            Matcher named = NAMED.matcher(entry.key() + "=" + entry.value());
            ConfigEntry enabled = named.matches() ? byKey.get(named.group("rule") + "enabled") : null;
            if (named.matches()
                    && (enabled == null || !enabled.value().equals("false"))
                    && !exists(named.group("type"), loader)) {
                problems.add(
                        entry,
                        "RL-114 can't be made (there is no such class); name a public class on the class path of the"
                                + " application (one within another is written com.example.Outer$Inner)");
            }
        }
    }

    private static boolean exists(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader);
        } catch (ClassNotFoundException missing) {
            return !ConfigKey.isClassName(name);
        } catch (LinkageError unreadable) {
            // Reported with its cause when an object is made.
            return true;
        }
        return true;
    }
}
