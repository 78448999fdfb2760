package io.limiter.tools;

import io.limiter.BackendException;
import io.limiter.control.Control;
import io.limiter.redis.RedisControlStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The command line of operators: publishes configuration for a group of instances, rolls it back, sets overrides of keys and
 * switches, and shows what each instance runs. {@code java -jar limiter-tools.jar help} describes it.
 */
public final class ControlTool {
    private static final int REFUSED = 1;
    private static final int WRONG = 2;
    private static final int CONFLICT = 3;
    private static final int UNREACHABLE = 4;

    private final Map<String, String> environment;
    private final Options options;

    private ControlTool(Map<String, String> environment, Options options) {
        this.environment = environment;
        this.options = options;
    }

    /** Runs the command that the arguments describe; exits with its code unless that is 0. */
    public static void main(String[] arguments) {
        int status = run(System.out, System.err, System.getenv(), arguments);
        if (status != 0) {
            System.exit(status);
        }
    }

    /** The same; returns the code. */
    static int run(PrintStream out, PrintStream err, Map<String, String> environment, String... arguments) {
        if (arguments.length == 0 || arguments[0].equals("help")) {
            out.print(Options.HELP);
            return arguments.length == 0 ? WRONG : 0;
        }
        if (arguments[0].equals("explain")) {
            return Explain.run(out, err, Arrays.copyOfRange(arguments, 1, arguments.length));
        }
        try {
            Options options = Options.of(arguments);
            Control.Answer answer = new ControlTool(environment, options).run();
            print(out, answer, options.get("json") != null);
            return answer.isDone() ? 0 : REFUSED;
        } catch (Control.ConflictException lost) {
            err.println(lost.getMessage());
            return CONFLICT;
        } catch (BackendException failed) {
            err.println(failed.getMessage());
            return UNREACHABLE;
        } catch (IllegalArgumentException | IOException wrong) {
            err.println(wrong.getMessage() + "\nhelp: java -jar limiter-tools.jar help");
            return WRONG;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return UNREACHABLE;
        }
    }

    private Control.Answer run() throws IOException, InterruptedException {
        List<String> words = options.words();
        boolean hasTwoWords = words.size() > 1 && List.of("override", "switch").contains(words.get(0));
        String command = String.join(" ", words.subList(0, hasTwoWords ? 2 : Math.min(1, words.size())));
        if (command.equals("publish") && words.size() > 1) {
            options.values().put("text", Files.readString(Path.of(words.get(1))));
        } else if (words.size() > 1 && !hasTwoWords) {
            options.values().put("version", words.get(1));
        }
        try (RedisControlStore store = store()) {
            return new Control(
                            store,
                            setting("group", "LIMITER_CONTROL_GROUP"),
                            secret("secret-file", "LIMITER_CONTROL_SECRET"))
                    .run(
                            command,
                            options.values(),
                            Objects.requireNonNullElseGet(
                                    options.get("author"), () -> System.getProperty("user.name", "unknown")));
        }
    }

    private RedisControlStore store() throws IOException {
        String yaml = options.get("redis-yaml");
        return yaml != null
                ? RedisControlStore.openYaml(Files.readString(Path.of(yaml)))
                : RedisControlStore.open(
                        setting("redis", "LIMITER_REDIS_ADDRESS"),
                        options.values().getOrDefault("user", environment.get("LIMITER_REDIS_USERNAME")),
                        secret("password-file", "LIMITER_REDIS_PASSWORD"));
    }

    private String setting(String option, String variable) {
        String value = options.values().getOrDefault(option, environment.getOrDefault(variable, ""));
        if (value.isEmpty()) {
            throw new IllegalArgumentException("--" + option + " is missing, and " + variable + " is not set");
        }
        return value;
    }

    /** From a file or a variable: arguments are seen by other users of a machine. */
    private @Nullable String secret(String option, String variable) throws IOException {
        String file = options.get(option);
        return file == null
                ? environment.get(variable)
                : Files.readString(Path.of(file)).strip();
    }

    /** One line for each row, of all its components that say something. */
    private static void print(PrintStream out, Control.Answer answer, boolean isJson) {
        if (isJson) {
            out.println(Json.of(answer));
            return;
        }
        answer.lines().forEach(out::println);
        for (Record row : answer.rows()) {
            out.println(Json.parts(row).values().stream()
                    .map(String::valueOf)
                    .map(cell -> cell.isEmpty() ? "-" : cell)
                    .collect(Collectors.joining("  ")));
        }
    }
}
