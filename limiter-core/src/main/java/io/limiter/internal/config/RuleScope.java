package io.limiter.internal.config;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which requests a rule applies to. Immutable.
 *
 * @param paths the paths that it matches, at least one: exact ({@code /login}), everything below ({@code /api/*}, which
 *     also matches {@code /api}), with variables that match one segment ({@code /users/{id}}), with any number of segments
 *     between two others (<code>/api/**&#47;export</code>)
 * @param methods the HTTP methods that it matches, in upper case; another one than the usual nine has the prefix {@code ext:};
 *     empty for all. A method that no client sends would limit nothing, so a slip such as {@code ALL} or {@code GET|POST} is
 *     refused
 * @param headers the headers that the request must have, all of them
 * @param query the parameters that its query must have, all of them
 * @param except paths of the rule that it does not count, written as its paths
 * @param exempt callers that it does not count
 * @param isDefault whether the rule applies only to requests that no other rule matches
 */
public record RuleScope(
        List<String> paths,
        Set<String> methods,
        List<RequestCondition> headers,
        List<RequestCondition> query,
        List<String> except,
        CallerMatcher exempt,
        boolean isDefault) {
    private static final List<String> USUAL =
            List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT");

    private static final Pattern VARIABLE = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_-]*)}");

    /**
     * What patterns of other kinds have, or a list without commas, and no path of an application: it would match nothing.
     * {@code $batch} and {@code v1:cancel} are paths.
     */
    private static final Pattern UNFIT = Pattern.compile(
            "[*{};\uFF0C\uFF0A\uFF0F\uFF5B\uFF5D\u201C\u201D?#%\\\\|<>\\[\\]^\"\\p{Cntrl}]|^[.+]+$|\\.\\+|\\$$|^\\s|\\s$|^:");

    /** The scope of the properties below a key; a default rule without paths matches all. */
    static RuleScope read(PropertyReader reader, String rule, String here) {
        boolean isDefault = reader.yes(here + "default");
        List<String> paths = reader.each(here + "path", RuleScope::checked);
        reader.must(
                here + "path",
                !paths.isEmpty() || isDefault,
                "RL-105 rule '" + rule + "' has no path; add " + here + "path = /api/* (every path is written /*)");
        return new RuleScope(
                paths.isEmpty() && isDefault ? List.of("/*") : paths,
                Set.copyOf(reader.each(here + "methods", RuleScope::checkedMethod)),
                reader.each(here + "headers", RequestCondition::parse),
                reader.each(here + "query", RequestCondition::parse),
                reader.each(here + "except", RuleScope::checkedException),
                CallerMatcher.read(reader, here + "exempt."),
                isDefault);
    }

    /** The methods without the prefix of extensions. */
    public Set<String> methodNames() {
        return methods.stream().map(method -> method.replaceFirst("^ext:", "")).collect(Collectors.toUnmodifiableSet());
    }

    private static String checkedMethod(String method) {
        String canonical = method.toUpperCase(Locale.ROOT).replaceFirst("^EXT:", "ext:");
        Problems.refuseIf(
                !USUAL.contains(canonical) && !canonical.matches("ext:[A-Z][A-Z0-9_-]*"),
                "'" + method
                        + "' is not a usual HTTP method; write GET, POST, separated by commas, ext:PROPFIND for another"
                        + " one, or leave the line out for every method");
        return canonical;
    }

    private static String checkedException(String path) {
        Problems.refuseIf(
                checked(path).matches("(/\\*{1,2})+"),
                "'" + path + "' is every path, so the rule would count nothing; write enabled = false instead");
        return path;
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

    /**
     * A header or a query parameter that a request must have. Immutable.
     *
     * @param name of the header or parameter
     * @param value that it must have; null for any
     */
    public record RequestCondition(String name, @Nullable String value) {
        /** Nothing, {@code =x}, {@code ^x}, quotes, {@code a|b}, {@code a*} (but not <code>*&#47;*</code>), {@code x&y=z}: no request would have it. */
        private static final Pattern UNFIT =
                Pattern.compile("|[=^\"'].*|.*\\|.*|.*\\.\\*.*|(?!\\*/\\*$).*\\*|.*&[^&=]+=.*");

        /**
         * Checks the condition.
         *
         * @throws IllegalArgumentException if the name is invalid
         */
        public RequestCondition {
            Problems.refuseIf(
                    !ConfigKey.isName(name),
                    "'" + name + "' is not the name of a header or parameter; write Name, or Name=value");
            Problems.refuseIf(
                    value != null && UNFIT.matcher(value).matches(),
                    "'" + name + "=" + value + "' is not compared as a pattern or list; write " + name
                            + " for any value, or " + name + "=value for that one");
        }

        /** The condition of a text: {@code X-Kind} for any value, {@code X-Kind=batch} for that one. */
        public static RequestCondition parse(String text) {
            int equals = text.indexOf('=');
            return equals < 0
                    ? new RequestCondition(text, null)
                    : new RequestCondition(
                            text.substring(0, equals).strip(),
                            text.substring(equals + 1).strip());
        }

        /** As configuration text writes it, without the value, which may be a credential. */
        @Override
        public String toString() {
            return value == null ? name : name + "=***";
        }
    }
}
