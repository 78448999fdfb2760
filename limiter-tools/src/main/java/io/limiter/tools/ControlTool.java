package io.limiter.tools;

import io.limiter.BackendException;
import io.limiter.control.Command;
import io.limiter.control.Control;
import io.limiter.redis.RedisBackend;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

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
            answer.lines().forEach(out::println);
            return answer.isDone() ? 0 : REFUSED;
        } catch (Control.ConflictException lost) {
            err.println(lost.getMessage());
            return CONFLICT;
        } catch (BackendException failed) {
            err.println(failed.getMessage());
            return UNREACHABLE;
        } catch (IllegalArgumentException | IOException wrong) {
            err.println(reason(wrong) + "\nhelp: java -jar limiter-tools.jar help");
            return WRONG;
        }
    }

    /** What is wrong. The message of a file that is missing or can't be read is its name only. */
    static String reason(Exception wrong) {
        return (wrong instanceof FileSystemException ? "there is no file that can be read: " : "") + wrong.getMessage();
    }

    private Control.Answer run() throws IOException {
        boolean isPublished = command.word(0).equals("publish");
        if (isPublished && command.word(1).isEmpty()) {
            throw new IllegalArgumentException("the file with the text is missing");
        }
        String text = isPublished ? Files.readString(Path.of(command.word(1))) : "";
        String author = command.option("author", System.getProperty("user.name", "unknown"));
        try (Control control =
                Control.open(redis(), setting("LIMITER_CONTROL_GROUP"), setting("LIMITER_CONTROL_SECRET"))) {
            return command.run(control, text, author);
        }
    }

    private RedisBackend.Builder redis() throws IOException {
        String yaml = environment.get("LIMITER_REDIS_CONFIG");
        if (yaml != null) {
            return RedisBackend.builder().yaml(Files.readString(Path.of(yaml.replaceFirst("^file:", ""))));
        }
        RedisBackend.Builder redis = RedisBackend.builder().address(setting("LIMITER_REDIS_ADDRESS"));
        String password = environment.get("LIMITER_REDIS_PASSWORD");
        return password == null ? redis : redis.credentials(environment.get("LIMITER_REDIS_USERNAME"), password);
    }

    private String setting(String variable) {
        String value = environment.get(variable);
        if (value == null) {
            throw new IllegalArgumentException(variable + " is not set");
        }
        return value;
    }
}
