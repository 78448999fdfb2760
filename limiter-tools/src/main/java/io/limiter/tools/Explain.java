package io.limiter.tools;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.http.RequestSample.Explanation.RuleReport;
import io.limiter.http.internal.Explainer;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.NamedClasses;
import io.limiter.inprocess.InProcessBackend;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Shows which rules of a configuration file a request meets, what they charge it, and whether the limits allow that: for a
 * first request, because nothing is asked but the file. Classes that the file names must be on the class path; those for a
 * server's own requests fail here, and the explanation contains that.
 */
final class Explain {
    private static final String USAGE = """
            usage: explain FILE [--method GET] [--path /] [--address 192.0.2.1] [--header 'Name: value']...
                           [--user NAME] [--role NAME]... [--context-path /app]
            """;

    private final Deque<String> arguments;
    private final Set<String> roles = new HashSet<>();
    private String method = "GET";
    private String path = "/";
    private String address = "192.0.2.1";
    private String headers = "";
    private String contextPath = "";
    private @Nullable String user;

    private Explain(String... arguments) {
        this.arguments = new ArrayDeque<>(Arrays.asList(arguments));
    }

    /** Explains the request that the arguments describe. Returns the status: 2 if they are wrong, or the file is. */
    static int run(PrintStream out, PrintStream err, String... arguments) {
        try {
            new Explain(arguments).run(out);
            return 0;
        } catch (IllegalArgumentException | IOException wrong) {
            err.println(ControlTool.reason(wrong));
            return 2;
        }
    }

    private void run(PrintStream out) throws IOException {
        String file = arguments.poll();
        if (file == null) {
            throw new IllegalArgumentException(USAGE);
        }
        while (!arguments.isEmpty()) {
            readOption(arguments.pop(), arguments.poll());
        }
        RequestSample sample =
                RequestSample.of(method, path, address).withHeaders(headers).withUser(user, roles, Map.of());
        LimiterConfig config = LimiterConfig.builder().file(file, Path.of(file)).build();
        InProcessBackend backend = InProcessBackend.builder().build();
        try (Limiter limiter = Limiter.of(config, RateLimiters.on(backend))) {
            NamedClasses classes = new NamedClasses(Explain.class.getClassLoader(), type -> null);
            HttpRules rules =
                    new HttpRules(limiter, config, config.settings().rules(), rule -> true, List.of(), classes);
            print(Explainer.explain(rules, sample, contextPath), out);
        }
    }

    private void readOption(String option, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException(option + " has no value\n" + USAGE);
        }
        switch (option) {
            case "--method" -> method = value;
            case "--path" -> path = value;
            case "--address" -> address = value;
            case "--header" -> headers += value + "\n";
            case "--user" -> user = value;
            case "--role" -> roles.add(value);
            case "--context-path" -> contextPath = value;
            default -> throw new IllegalArgumentException("there is no option " + option + "\n" + USAGE);
        }
    }

    private static void print(Explanation explained, PrintStream out) {
        out.println((explained.admitted() ? "admitted" : "answered with " + explained.status()) + ": "
                + explained.reason());
        out.println(
                "paths " + explained.paths() + ", client " + explained.client() + " (" + explained.clientFrom() + ")");
        for (RuleReport rule : explained.rules()) {
            out.println((rule.counts() ? "+ " : "- ") + rule.rule() + " (" + rule.mode() + "): " + rule.why());
            if (rule.charge() != null) {
                out.println("    charges " + rule.charge().permits() + " to policy "
                        + rule.charge().policy() + ", key " + rule.charge().key());
                rule.charge()
                        .limits()
                        .forEach(limit -> out.println("    limit " + limit.limit() + ": "
                                + (limit.allowed() ? "allows, leaves " + limit.remaining() : "denies")));
            }
        }
    }
}
