package io.limiter.spring.boot;

import io.limiter.config.ConfigException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

/**
 * Reports a startup failure caused by the limiter as a short text instead of a stack trace. Such failures are
 * recognized by the code at the beginning of their messages.
 */
@Order(0)
final class LimiterFailureAnalyzer implements FailureAnalyzer {
    private static final String CODE = "RL-\\d{3}";
    private static final String REMEDY = "(?:; (?<remedy>.*))?";
    private static final Pattern FINDING = Pattern.compile("(?s)(?<what>" + CODE + " .*?)" + REMEDY);

    /** A single mistake. */
    private static final Pattern MISTAKE =
            Pattern.compile("(?s)(?<what>[^\n]*:\\s+(?:line [0-9]+: )?" + CODE + " .*?)" + REMEDY);

    LimiterFailureAnalyzer() {}

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (cause instanceof ConfigException mistakes && mistakes.problems().size() > 1) {
                return new FailureAnalysis(message, "Correct these lines; each contains what to write instead.", cause);
            }
            Matcher finding = (cause instanceof ConfigException ? MISTAKE : FINDING).matcher(message);
            if (finding.matches()) {
                String remedy = finding.group("remedy");
                String action =
                        remedy == null ? null : StringUtils.capitalize(remedy) + (remedy.endsWith("?") ? "" : ".");
                return new FailureAnalysis(finding.group("what") + ".", action, cause);
            }
        }
        return null;
    }
}
