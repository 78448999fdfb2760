package io.limiter.spring.boot;

import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A failed startup, with its code only. Spring and the server log the messages of exceptions before Spring Boot's failure report, so
 * a mistake in the message would be in the log twice; the {@link LimiterFailureAnalyzer} finds it in the cause.
 */
final class StartupFailure extends IllegalStateException {
    private static final long serialVersionUID = 1L;
    private static final Pattern CODE = Pattern.compile("\\bRL-\\d{3}\\b");

    private StartupFailure(String message, RuntimeException cause) {
        super(message, cause);
    }

    /** What the supplier makes. */
    static <T> T orReported(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (IllegalArgumentException | IllegalStateException wrong) {
            throw of(wrong);
        }
    }

    /** The same failure with a short message, if it has a code. */
    static RuntimeException of(RuntimeException wrong) {
        Matcher code = CODE.matcher(String.valueOf(wrong.getMessage()));
        return code.find() && !(wrong instanceof StartupFailure)
                ? new StartupFailure(
                        code.group() + ": the limiter does not start; the failure report has the reason", wrong)
                : wrong;
    }
}
