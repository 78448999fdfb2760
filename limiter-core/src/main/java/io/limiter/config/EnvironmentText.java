package io.limiter.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the variables of an environment that mean something: the upper-case form of a key, with every other character
 * than a letter or digit as an underscore, or its hyphens left out, as Spring Boot writes them. A policy or rule of the files keeps its spelling; one that stands only here
 * gets a lower-case name with hyphens; a policy must have its limits there, and a rule its path.
 */
final class EnvironmentText {
    /** As {@link Keys#ROOT}. */
    private static final String START = "LIMITER_";

    private EnvironmentText() {}

    /**
     * What the variables say.
     *
     * @param otherKeys of the caller's own, whose variables it reads itself
     */
    static List<ConfigEntry> entries(
            Map<String, String> environment, List<ConfigEntry> files, Set<String> otherKeys, Problems problems) {
        if (!isOurs(environment)) {
            return List.of();
        }
        Map<String, String> keyOfVariable = new LinkedHashMap<>();
        Map<String, String> ambiguous = new LinkedHashMap<>();
        for (String key : Keys.SINGLE) {
            keyOfVariable.put(variable(key), key);
            keyOfVariable.put(withoutHyphens(key), key);
        }
        for (ConfigEntry entry : files) {
            known(entry.key(), Keys.POLICIES, Keys.OF_POLICY, keyOfVariable, ambiguous);
            known(entry.key(), Keys.RULES, Keys.OF_RULE, keyOfVariable, ambiguous);
        }
        List<ConfigEntry> entries = new ArrayList<>();
        UnreadVariables unread = unread(keyOfVariable.keySet(), otherKeys);
        new TreeMap<>(environment).forEach((variable, value) -> {
            if (value.isBlank()) {
                return;
            }
            String key = keyOfVariable.get(variable);
            if (key != null && ambiguous.containsKey(variable)) {
                problems.add(
                        Problems.TWICE,
                        "environment variable " + variable,
                        0,
                        "it could be " + key + " or " + ambiguous.get(variable) + "; rename one of the two");
            }
            if (key == null) {
                key = fresh(variable, Keys.POLICIES, Keys.OF_POLICY, Keys.LIMITS, environment);
            }
            if (key == null) {
                key = fresh(variable, Keys.RULES, Keys.OF_RULE, Keys.PATH, environment);
            }
            if (key != null) {
                entries.add(new ConfigEntry("environment variable " + variable, 0, key, value.strip()));
            } else {
                unread.add(variable, environment.keySet());
            }
        });
        unread.warn();
        return entries;
    }

    /** Nearly always there is none, and a start need not spell all keys. */
    private static boolean isOurs(Map<String, String> environment) {
        for (String variable : environment.keySet()) {
            if (variable.startsWith(START)) {
                return true;
            }
        }
        return false;
    }

    private static UnreadVariables unread(Set<String> ours, Set<String> otherKeys) {
        Set<String> read = new LinkedHashSet<>(ours);
        for (String key : otherKeys) {
            read.add(variable(key));
            read.add(withoutHyphens(key));
        }
        return new UnreadVariables(read);
    }

    static String variable(String key) {
        return key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
    }

    static String withoutHyphens(String key) {
        return variable(key.replaceAll("[-_]", ""));
    }

    /** How a variable of a policy's or rule's property may end. */
    static List<String> endings(String property) {
        return List.of("_" + variable(property), "_" + withoutHyphens(property));
    }

    /** All spellings of the variable of a policy's or rule's property. */
    private static Set<String> variables(String start, String name, String property) {
        Set<String> variables = new LinkedHashSet<>();
        for (String middle : List.of(variable(name), withoutHyphens(name))) {
            variables.add(start + middle + "_" + variable(property));
            variables.add(start + middle + "_" + withoutHyphens(property));
        }
        return variables;
    }

    private static void known(
            String key,
            String group,
            List<String> properties,
            Map<String, String> keyOfVariable,
            Map<String, String> ambiguous) {
        int dot = key.lastIndexOf('.');
        if (key.startsWith(group) && dot > group.length()) {
            String name = key.substring(group.length(), dot);
            for (String property : properties) {
                String sibling = group + name + "." + property;
                for (String variable : variables(variable(group), name, property)) {
                    String earlier = keyOfVariable.putIfAbsent(variable, sibling);
                    if (earlier != null && !earlier.equals(sibling)) {
                        ambiguous.put(variable, sibling);
                    }
                }
            }
        }
    }

    /**
     * The key of a policy or rule that no file has; null unless the environment has what such a one can't be without, for
     * the variable may be meant for another application.
     */
    private static @Nullable String fresh(
            String variable, String group, List<String> properties, String essential, Map<String, String> environment) {
        String start = variable(group);
        for (String property : properties) {
            for (String end : endings(property)) {
                if (variable.startsWith(start)
                        && variable.endsWith(end)
                        && variable.length() > start.length() + end.length()) {
                    String name = variable.substring(start.length(), variable.length() - end.length());
                    return environment.containsKey(start + name + "_" + variable(essential))
                            ? group + name.toLowerCase(Locale.ROOT).replace('_', '-') + "." + property
                            : null;
                }
            }
        }
        return null;
    }
}
