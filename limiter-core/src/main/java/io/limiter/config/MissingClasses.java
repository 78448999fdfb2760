package io.limiter.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds classes in entries that don't exist. The filter makes their objects later, one by one. */
final class MissingClasses {
    private MissingClasses() {}

    static void note(List<ConfigEntry> entries, ClassLoader loader, Problems problems) {
        Map<String, ConfigEntry> byKey = new HashMap<>();
        entries.forEach(entry -> byKey.put(entry.key(), entry));
        for (ConfigEntry entry : byKey.values()) {
            String name = name(entry);
            String section = Entries.section(entry.key());
            if (HttpSettings.isClassName(name)
                    && !isOff(byKey.get(section + "enabled"))
                    && !isOff(byKey.get("limiter.enabled"))
                    && !exists(name, loader)) {
                problems.add(
                        entry,
                        "RL-114 can't be made (there is no class " + name + "); name a public class on the class path of"
                                + " the application (a class within another is written com.example.Outer$Inner)");
            }
        }
    }

    /** Other text, such as {@code header:X-Plan} or {@code 10}, is not the name of a class. */
    private static String name(ConfigEntry entry) {
        String key = Group.RULES.name(entry.key()) == null
                ? entry.key()
                : entry.key().substring(entry.key().lastIndexOf('.') + 1);
        return switch (key) {
            case "key", "member" -> entry.value().startsWith("class:") ? entry.value().substring(6) : "";
            case "cost", "plan", "limiter.http.rejection-handler" -> entry.value();
            default -> "";
        };
    }

    private static boolean isOff(@Nullable ConfigEntry enabled) {
        return enabled != null && enabled.value().equals("false");
    }

    private static boolean exists(String name, ClassLoader loader) {
        try {
            Class.forName(name, false, loader);
            return true;
        } catch (ClassNotFoundException missing) {
            return false;
        } catch (LinkageError unreadable) {
            // Reported with its cause when an object is made.
            return true;
        }
    }
}
