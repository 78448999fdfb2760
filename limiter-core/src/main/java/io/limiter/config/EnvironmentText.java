package io.limiter.config;

import io.limiter.DiagnosticLog;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Finds the variables of an environment that mean something: the upper-case form of a key, with underscores for every other
 * character than a letter or digit, or without some of them, as Spring Boot writes them. A policy or rule of the files keeps
 * its spelling; one that stands only here gets a lower-case name with hyphens; a policy must have its limits there, and a
 * rule its path.
 *
 * <p>Variables that look like settings and mean nothing are no mistake, for they may be meant for somebody else; but whoever
 * misspells the address of Redis should not find out by limits that every instance grants whole.
 */
final class EnvironmentText {
    private static final Logger LOG = DiagnosticLog.of(EnvironmentText.class);

    private static final Pattern LIKE_A_SETTING =
            Pattern.compile("LIMITER_(?:REDIS|POLICIES|RULES|HTTP|CLIENT_?IP|IN_?PROCESS)_.+");
    /** What Kubernetes gives to every container of a namespace that has a service by such a name. */
    private static final Pattern OF_A_SERVICE = Pattern.compile(
            ".*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)");

    private static final Pattern ITEM_OF_A_LIST = Pattern.compile("_[0-9]{1,4}$");
    private static final int FARTHEST = 3;

    private final Map<String, String> variables = new TreeMap<>();
    private final Set<String> known = new LinkedHashSet<>();
    private final Problems problems;

    private EnvironmentText(Problems problems) {
        this.problems = problems;
    }

    /**
     * What the variables say.
     *
     * @param otherKeys of the caller's own, whose variables it reads itself
     */
    static List<ConfigEntry> entries(
            Map<String, String> environment, List<ConfigEntry> files, Set<String> otherKeys, Problems problems) {
        EnvironmentText text = new EnvironmentText(problems);
        environment.forEach((variable, value) -> {
            if (variable.startsWith("LIMITER_") && !value.isBlank()) {
                text.variables.put(variable, value.strip());
            }
        });
        // Nearly always there is none, and a start need not spell all keys.
        return text.variables.isEmpty() ? List.of() : text.entries(files, otherKeys);
    }

    private List<ConfigEntry> entries(List<ConfigEntry> files, Set<String> otherKeys) {
        Binder.keys().stream().filter(key -> key.indexOf('<') < 0).forEach(known::add);
        for (Group group : Group.values()) {
            group.names(files).forEach(name -> known.addAll(group.keys(name)));
        }
        List<ConfigEntry> entries = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        variables.forEach((variable, value) -> {
            String key = key(variable);
            if (key != null) {
                entries.add(new ConfigEntry("environment variable " + variable, 0, key, value));
            } else if (looksLikeASetting(variable)
                    && otherKeys.stream().noneMatch(other -> letters(other).equals(letters(variable)))) {
                unread.add(variable);
            }
        });
        if (!unread.isEmpty()) {
            known.addAll(otherKeys);
            List<String> right = known.stream().map(EnvironmentText::variable).toList();
            // Without their values, which may be passwords.
            LOG.warn(
                    "RL-137 variables of the environment begin like the limiter's and are ignored, for they mean nothing: {}",
                    unread.stream()
                            .map(variable -> Problems.shown(variable)
                                    + Suggestion.of(variable, right, FARTHEST).replaceFirst("; (.*)", " ($1)"))
                            .collect(Collectors.joining(", ")));
        }
        return entries;
    }

    private boolean looksLikeASetting(String variable) {
        String list = ITEM_OF_A_LIST.matcher(variable).replaceFirst("");
        return LIKE_A_SETTING.matcher(variable).matches()
                && !OF_A_SERVICE.matcher(variable).matches()
                && (list.equals(variable) || !variables.containsKey(list));
    }

    private @Nullable String key(String variable) {
        List<String> meant = find(variable, EnvironmentText::variable);
        if (meant.isEmpty()) {
            meant = find(letters(variable), EnvironmentText::letters);
        }
        if (meant.size() > 1) {
            problems.add(
                    Problems.TWICE,
                    "environment variable " + variable,
                    0,
                    "it could be " + meant.get(0) + " or " + meant.get(1) + "; rename one of the two");
        }
        return meant.isEmpty() ? fresh(variable) : meant.get(0);
    }

    private List<String> find(String written, UnaryOperator<String> form) {
        return known.stream().filter(key -> form.apply(key).equals(written)).toList();
    }

    /**
     * The key of a policy or rule that no file has; null unless the environment has what such a one can't be without, for
     * the variable may be meant for another application.
     */
    private @Nullable String fresh(String variable) {
        for (Group group : Group.values()) {
            for (String property : group.properties) {
                Matcher parts = Pattern.compile(variable(group.start) + "(.+)_"
                                + variable(property).replace("_", "_?"))
                        .matcher(variable);
                if (parts.matches()) {
                    String name = parts.group(1);
                    return variables.containsKey(variable(group.start + name + "." + group.properties.get(0)))
                            ? group.start + name.toLowerCase(Locale.ROOT).replace('_', '-') + "." + property
                            : null;
                }
            }
        }
        return null;
    }

    private static String variable(String key) {
        return key.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_");
    }

    private static String letters(String key) {
        return variable(key).replace("_", "");
    }
}
