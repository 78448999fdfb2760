package io.limiter.internal.config;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The grammar of paths: {@code /login}, {@code /api/*}, {@code /users/{id}}, {@code /api/**&#47;export}. */
final class PathText {
    private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_-]*)}");

    /**
     * What patterns of other kinds have, or a list without commas, and no path of an application: it would match nothing.
     * {@code $batch} and {@code v1:cancel} are paths.
     */
    private static final Pattern UNFIT =
            Pattern.compile("[*{};?#%\\\\|<>\\[\\]^\"\\p{Cntrl}]|^[.+]+$|\\.\\+|\\$$|^\\s|\\s$|^:");

    private PathText() {}

    static void check(List<String> paths) {
        LimitText.each(paths, PathText::checked);
    }

    static void checkExempt(List<String> paths) {
        LimitText.each(paths, path -> {
            Problems.refuseIf(
                    checked(path).matches("(/\\*{1,2})+"),
                    "'" + path + "' is every path, so the rule would count nothing; write enabled = false instead");
            return path;
        });
    }

    private static String checked(String path) {
        Problems.refuseIf(!path.startsWith("/"), "'" + path + "' is not a path; start it with / (every path is /*)");
        String[] segments = path.substring(1).split("/", -1);
        Set<String> variables = new HashSet<>();
        for (int i = 0; i < segments.length; i++) {
            String segment = segments[i];
            boolean last = i == segments.length - 1;
            Matcher variable = VARIABLE.matcher(segment);
            Problems.refuseIf(
                    segment.isEmpty() && !last, "'" + path + "' has an empty segment; write one / between segments");
            Problems.refuseIf(
                    variable.matches() && !variables.add(variable.group(1)),
                    "'" + path + "' has two variables " + segment + "; give one of them another name");
            Problems.refuseIf(
                    !variable.matches()
                            && !segment.equals("**")
                            && !(last && segment.equals("*"))
                            && UNFIT.matcher(segment).find(),
                    "'" + path + "' can't be matched at '" + segment
                            + "'; a path is plain decoded text, with * only as its last segment (/api/*), **"
                            + " and a variable only as whole segments (/api/**/export, /users/{id})");
        }
        return path;
    }
}
