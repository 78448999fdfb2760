package io.limiter.spring.boot;

import io.limiter.config.ConfigException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.annotation.Order;

/**
 * Makes of a start that failed for one of our reasons a short report instead of a stack trace. The reasons are known by the
 * code that their messages begin with, which every message of a failed start has.
 */
@Order(0)
final class LimiterFailureAnalyzer implements FailureAnalyzer {
    private static final Pattern FINDING = Pattern.compile("(?s)(RL-\\d{3}) (?<what>.*?)(?:; (?<remedy>.*))?");
    private static final String PAGE = "docs/diagnostics.md";

    LimiterFailureAnalyzer() {}

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (cause instanceof ConfigException) {
                return new FailureAnalysis(
                        message,
                        "Correct each line as its message says, behind the semicolon. " + PAGE
                                + " has a section for each code.",
                        cause);
            }
            Matcher finding = FINDING.matcher(message);
            if (finding.matches()) {
                return ofFinding(finding, cause);
            }
        }
        return null;
    }

    private static FailureAnalysis ofFinding(Matcher finding, Throwable cause) {
        String remedy = finding.group("remedy");
        String more = "More: " + finding.group(1) + " in " + PAGE + ".";
        return new FailureAnalysis(
                finding.group(1) + " " + finding.group("what") + ".",
                remedy == null ? more : Character.toUpperCase(remedy.charAt(0)) + remedy.substring(1) + ".\n\n" + more,
                cause);
    }
}
