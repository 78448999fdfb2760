package io.limiter.internal.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the environment variables that match a key: its upper-case form, with underscores for all characters except
 * letters and digits, or without some of them, as Spring Boot writes them. A policy or rule in the files keeps its
 * spelling; one that is only in the environment gets a lower-case name with hyphens; it must have its limits there, or
 * a rule its path.
 *
 * <p>Variables that look like settings but match no key are no mistake, because they may be meant for other software;
 * they are logged, so that a misspelled address of Redis is noticed.
 */
final class EnvironmentText {
    private static final Logger LOG = LoggerFactory.getLogger(EnvironmentText.class);

    /** Those of the sections of the table. */
    private static final Pattern LIKE_A_SETTING = Pattern.compile(
            "LIMITER_(?:RELOAD|CONTROL|DENIALS|EXEMPT|DENY|PLAN_?LOOKUP|REDIS|IN_?PROCESS|HOLDS|WAIT|CLIENT_?IP|HTTP"
                    + "|FILTER|POLICIES|PLANS|RULES)_.+");
    /** Variables that Kubernetes sets in every container of a namespace with a service of such a name. */
    private static final Pattern OF_A_SERVICE = Pattern.compile(
            ".*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)");

    private EnvironmentText() {}

    /**
     * The entries of the variables.
     *
     * @param otherKeys the caller's own keys
     */
    static List<ConfigEntry> entries(
            Map<String, String> environment, List<ConfigEntry> files, Set<String> otherKeys, Problems problems) {
        SortedMap<String, String> ours = new TreeMap<>(environment);
        ours.keySet().removeIf(variable -> !Problems.seen(variable).startsWith("LIMITER_"));
        ours.values().removeIf(String::isBlank);
        // Usually there is none, which saves startup from spelling all keys.
        List<String> known = ours.isEmpty() ? List.of() : known(files, ours.keySet(), otherKeys);
        List<ConfigEntry> entries = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        ours.forEach((variable, value) -> {
            String place = PropertyReader.VARIABLE + Problems.visible(variable);
            String unseen = Problems.unseen(variable);
            if (unseen != null) {
                problems.add(place, 0, unseen);
                return;
            }
            List<String> meant = known.stream()
                    .filter(key -> ConfigKey.isVariable(variable, key))
                    .toList();
            if (meant.size() > 1) {
                String both = meant.get(0) + " or " + meant.get(1);
                problems.add(place, 0, "RL-102 it could be " + both + "; rename one of the two");
            }
            String list = variable.replaceFirst("_[0-9]{1,4}$", "");
            if (!meant.isEmpty()) {
                entries.add(new ConfigEntry(place, 0, meant.get(0), value.strip()));
            } else if (LIKE_A_SETTING.matcher(variable).matches()
                    && !OF_A_SERVICE.matcher(variable).matches()
                    && (list.equals(variable) || !ours.containsKey(list))) {
                unread.add(Problems.shown(variable));
            }
        });
        if (!unread.isEmpty()) {
            // Without their values, which may be passwords.
            LOG.warn(
                    "RL-137 environment variables look like settings of the limiter but match none, and are ignored: {}",
                    String.join(", ", unread));
        }
        return entries;
    }

    /** All keys, including those of policies and rules that are only in the environment. */
    private static List<String> known(List<ConfigEntry> files, Set<String> variables, Set<String> otherKeys) {
        List<String> known = new ArrayList<>(otherKeys);
        known.addAll(ConfigKey.names(false));
        known.removeIf(key -> key.contains(ConfigKey.NAME));
        for (NamedKeys group : NamedKeys.values()) {
            group.names(files).forEach(name -> known.addAll(group.keys(name)));
            String end = "_" + ConfigKey.variable(group.properties.get(0));
            for (String variable : variables) {
                if (variable.matches(ConfigKey.variable(group.start) + ".+" + end)
                        && known.stream().noneMatch(key -> ConfigKey.isVariable(variable, key))) {
                    String name = variable.substring(group.start.length(), variable.length() - end.length());
                    known.addAll(group.keys(name.toLowerCase(Locale.ROOT).replace('_', '-')));
                }
            }
        }
        return known;
    }
}
