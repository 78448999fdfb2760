package io.limiter.tools;

import io.limiter.BackendException;
import io.limiter.control.Command;
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
    private final Command command;

    private ControlTool(Map<String, String> environment, Command command) {
        this.environment = environment;
        this.command = command;
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
            out.print(Command.HELP);
            return arguments.length == 0 ? WRONG : 0;
        }
        if (arguments[0].equals("explain")) {
            return Explain.run(out, err, Arrays.copyOfRange(arguments, 1, arguments.length));
        }
        try {
            Command command = Command.of(List.of(arguments));
            Control.Answer answer = new ControlTool(environment, command).run();
            print(out, answer, command.has("json"));
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
        boolean isPublished = command.word(0).equals("publish");
        if (isPublished && command.word(1).isEmpty()) {
            throw new IllegalArgumentException("the file with the text is missing");
        }
        String text = isPublished ? Files.readString(Path.of(command.word(1))) : "";
        String group = setting("group", "LIMITER_CONTROL_GROUP");
        String secret = secret("secret-file", "LIMITER_CONTROL_SECRET");
        if (secret == null) {
            throw new IllegalArgumentException("--secret-file is missing, and LIMITER_CONTROL_SECRET is not set");
        }
        String author = command.option("author", System.getProperty("user.name", "unknown"));
        try (ControlStore store = store()) {
            return command.run(new Control(store, group, secret), text, author);
        }
    }

    private ControlStore store() throws IOException {
        return command.has("redis-yaml")
                ? ControlStore.openYaml(Files.readString(Path.of(command.option("redis-yaml", ""))))
                : ControlStore.open(
                        setting("redis", "LIMITER_REDIS_ADDRESS"),
                        command.has("user") ? command.option("user", "") : environment.get("LIMITER_REDIS_USERNAME"),
                        secret("password-file", "LIMITER_REDIS_PASSWORD"));
    }

    private String setting(String option, String variable) {
        String value = command.option(option, environment.getOrDefault(variable, ""));
        if (value.isEmpty()) {
            throw new IllegalArgumentException("--" + option + " is missing, and " + variable + " is not set");
        }
        return value;
    }

    /** From a file or a variable: arguments are seen by other users of a machine. */
    private @Nullable String secret(String option, String variable) throws IOException {
        return command.has(option)
                ? Files.readString(Path.of(command.option(option, ""))).strip()
                : environment.get(variable);
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
                int width = table.stream()
                        .mapToInt(one -> one.get(column).length())
                        .max()
                        .orElse(0);
                line.append(row.get(i)).append(" ".repeat(width - row.get(i).length() + 2));
            }
            out.println(line.toString().stripTrailing());
        }
    }
}
