package io.limiter.tools;

import io.limiter.BackendException;
import io.limiter.control.Control;
import io.limiter.control.ControlStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
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
        // A person reads what is printed: SLF4J would begin that with a warning.
        System.setProperty("slf4j.internal.verbosity", "ERROR");
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
        String group = setting("group", "LIMITER_CONTROL_GROUP");
        String secret = secret("secret-file", "LIMITER_CONTROL_SECRET");
        if (secret == null) {
            throw new IllegalArgumentException("--secret-file is missing, and LIMITER_CONTROL_SECRET is not set");
        }
        String author = options.values().getOrDefault("author", System.getProperty("user.name", "unknown"));
        try (ControlStore store = store()) {
            return new Control(store, group, secret).run(command, options.values(), author);
        }
    }

    private ControlStore store() throws IOException {
        String yaml = options.get("redis-yaml");
        return yaml != null
                ? ControlStore.openYaml(Files.readString(Path.of(yaml)))
                : ControlStore.open(
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

    /** The lines, then the rows as a table. */
    private static void print(PrintStream out, Control.Answer answer, boolean isJson) {
        if (isJson) {
            out.println(Json.of(answer));
            return;
        }
        answer.lines().forEach(out::println);
        List<List<String>> table = new ArrayList<>();
        for (Record row : answer.rows()) {
            if (table.isEmpty()) {
                table.add(List.copyOf(Json.parts(row).keySet()));
            }
            table.add(Json.parts(row).values().stream()
                    .map(cell -> String.valueOf(cell).isEmpty() ? "-" : String.valueOf(cell))
                    .toList());
        }
        for (List<String> row : table) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                int column = i;
                int width = table.stream().mapToInt(one -> one.get(column).length()).max().orElse(0);
                line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 2));
            }
            out.println(line.toString().stripTrailing());
        }
    }
}
