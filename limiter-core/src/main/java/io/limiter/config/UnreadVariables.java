package io.limiter.config;

import io.limiter.DiagnosticLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;

/**
 * Variables of the environment that look like settings and mean nothing. They are no mistake, for they may be meant for
 * somebody else; but whoever misspells the address of Redis should not find out by limits that every instance grants whole.
 */
final class UnreadVariables {
    private static final Logger LOG = DiagnosticLog.of(LimiterConfig.class);

    private static final List<String> STARTS =
            List.of(Keys.POLICIES, Keys.RULES, Keys.REDIS, Keys.HTTP, Keys.CLIENT_IP, Keys.IN_PROCESS);
    /** What Kubernetes gives to every container of a namespace that has a service by such a name. */
    private static final Pattern OF_A_SERVICE = Pattern.compile(
            ".*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)");

    private static final Pattern ITEM_OF_A_LIST = Pattern.compile("_[0-9]{1,4}$");
    private static final int FARTHEST = 3;
    private static final int MOST_TOLD = 10;

    private final Set<String> read;
    private final List<String> told = new ArrayList<>();

    /** @param read all that mean something, whether the environment has them or not */
    UnreadVariables(Set<String> read) {
        this.read = read;
    }

    /** Notes a variable that was not read, if it looks like a setting. */
    void add(String variable, Set<String> environment) {
        String list = ITEM_OF_A_LIST.matcher(variable).replaceFirst("");
        boolean isItem = !list.equals(variable) && environment.contains(list);
        if (!isItem
                && !read.contains(variable)
                && !OF_A_SERVICE.matcher(variable).matches()
                && STARTS.stream()
                        .anyMatch(section -> variable.startsWith(EnvironmentText.variable(section))
                                || variable.startsWith(EnvironmentText.withoutHyphens(section)))) {
            told.add(Problems.shown(variable) + instead(variable));
        }
    }

    /** One line for all, without their values, which may be passwords. */
    void warn() {
        if (!told.isEmpty()) {
            int more = told.size() - MOST_TOLD;
            LOG.warn(
                    "RL-137 variables of the environment begin like the limiter's and are ignored, for they mean nothing: {}{}",
                    String.join(", ", told.subList(0, Math.min(MOST_TOLD, told.size()))),
                    more > 0 ? " and " + more + " more" : "");
        }
    }

    private String instead(String variable) {
        String near = Suggestion.of(variable, read, FARTHEST);
        if (near.isEmpty()) {
            near = ofGroup(variable, Keys.POLICIES, Keys.OF_POLICY, Keys.LIMITS);
        }
        if (near.isEmpty()) {
            near = ofGroup(variable, Keys.RULES, Keys.OF_RULE, Keys.PATH);
        }
        return near.isEmpty() ? "" : " (" + near.replaceFirst("^; ", "") + ")";
    }

    /** For a policy or rule that stands nowhere: it lacks what it can't be without, or its property is misspelt. */
    private static String ofGroup(String variable, String group, List<String> properties, String essential) {
        String start = EnvironmentText.variable(group);
        if (!variable.startsWith(start)) {
            return "";
        }
        List<String> candidates = new ArrayList<>();
        for (String property : properties) {
            for (String end : EnvironmentText.endings(property)) {
                if (variable.endsWith(end) && variable.length() > start.length() + end.length()) {
                    return "it needs " + variable.substring(0, variable.length() - end.length()) + "_"
                            + EnvironmentText.variable(essential);
                }
                for (int at = variable.indexOf('_', start.length()); at > 0; at = variable.indexOf('_', at + 1)) {
                    candidates.add(variable.substring(0, at) + end);
                }
            }
        }
        return Suggestion.of(variable, candidates, FARTHEST);
    }
}
