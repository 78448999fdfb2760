package io.limiter.internal.config;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The grammar of methods: a registered one, in any case, or {@code ext:PURGE} for another one. A method that no client sends would
 * limit nothing, so a slip such as {@code ALL} or {@code GET|POST} is refused.
 */
final class MethodText {
    private static final List<String> USUAL =
            List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT");
    /** The IANA registry, without its reserved names {@code *} and PRI; and QUERY, which becomes part of it. */
    private static final Set<String> OTHERS = Set.of(
            ("ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT COPY LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF"
                            + " MKWORKSPACE MOVE ORDERPATCH PROPFIND PROPPATCH QUERY REBIND REPORT SEARCH UNBIND UNCHECKOUT UNLINK"
                            + " UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL")
                    .split(" "));

    private MethodText() {}

    /** The canonical spelling: the name in upper case. */
    static String canonical(String method) {
        return method.toUpperCase(Locale.ROOT).replaceFirst("^EXT:", "ext:");
    }

    /** The method itself, of a canonical spelling. */
    static String name(String canonical) {
        return canonical.replaceFirst("^ext:", "");
    }

    static void check(Collection<String> methods) {
        List<String> unfit =
                methods.stream().filter(method -> !isFit(canonical(method))).toList();
        Problems.refuseIf(
                !unfit.isEmpty(),
                "'" + String.join("', '", unfit)
                        + "' is not a registered HTTP method; write GET, POST, separated by commas, ext:PURGE for another"
                        + " one, or leave the line out for every method"
                        + unfit.stream()
                                .filter(method -> method.matches("[A-Za-z]+"))
                                .map(method -> Suggestion.of(canonical(method), USUAL))
                                .collect(Collectors.joining()));
    }

    private static boolean isFit(String canonical) {
        return USUAL.contains(canonical) || OTHERS.contains(canonical) || canonical.matches("ext:[A-Z][A-Z0-9_-]*");
    }
}
