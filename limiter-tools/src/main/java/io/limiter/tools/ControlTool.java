package io.limiter.tools;

import io.limiter.BackendException;
import io.limiter.control.Control;
import io.limiter.control.Words;
import io.limiter.internal.config.LimitText;
import io.limiter.redis.RedisControlStore;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The command line of operators: publishes configuration for a group of instances, rolls it back, sets overrides of keys and
 * switches, and shows what each instance runs. {@code java -jar limiter-tools.jar help} describes it.
 */
public final class ControlTool {
    private static final int WRONG = 2;
    private static final int CONFLICT = 3;
    private static final int UNREACHABLE = 4;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final int AUDITED = 50;
    private static final Set<String> VALUES = Set.of(
            "redis",
            "redis-yaml",
            "user",
            "password-file",
            "group",
            "secret-file",
            "author",
            "note",
            "policy",
            "key",
            "limits",
            "until",
            "target",
            "action",
            "based");
    private static final String HELP = """
            usage: java -jar limiter-tools.jar COMMAND

            publish FILE [--wait] [--if-all-accept] [--dry-run] [--based N]   replaces the published text
            roll-back N [--wait]            publishes version N again
            versions | show [N]             the versions that are kept, or the text of one
            instances                       who runs which version, and why not
            audit                           the last changes: who, what, before, why
            override add --policy P --key K (--limits L | --unlimited | --blocked) --until T [--yes]
            override remove --policy P --key K
            override list                   overrides and switches in force
            switch set --target (all | policy:P | rule:R) --action (off | shadow | deny) --until T
            switch remove --target T
            explain FILE ...                what the rules of a file do with a request

            For all: --redis ADDRESS | --redis-yaml FILE, --user NAME, --password-file FILE, --group NAME, --secret-file FILE, --author NAME,
            --note TEXT, --json. Variables: LIMITER_REDIS_ADDRESS, LIMITER_REDIS_USERNAME, LIMITER_REDIS_PASSWORD, LIMITER_CONTROL_GROUP,
            LIMITER_CONTROL_SECRET. Times: 2h, 3d, 2026-12-01 (UTC), 2026-12-01T08:00:00Z. Keys: user:alice, 203.0.113.7, or as the log shows them.
            Exit codes: 0 done, 1 an instance refused it or did not answer, 2 wrong arguments or text, 3 somebody else published, 4 Redis.
            """;

    private final PrintStream out;
    private final Map<String, String> environment;
    private final Options options;

    private ControlTool(PrintStream out, Map<String, String> environment, Options options) {
        this.out = out;
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
        if (arguments.length > 0 && arguments[0].equals("explain")) {
            return Explain.run(
                    out, err, List.of(arguments).subList(1, arguments.length).toArray(String[]::new));
        }
        try {
            Options options = new Options(VALUES, arguments);
            if (options.size() == 0 || options.word(0, "").equals("help")) {
                out.print(HELP);
                return options.size() == 0 ? WRONG : 0;
            }
            return new ControlTool(out, environment, options).run();
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

    private int run() throws IOException, InterruptedException {
        try (RedisControlStore store = store()) {
            Control control = new Control(
                    store, setting("group", "LIMITER_CONTROL_GROUP"), secret("secret-file", "LIMITER_CONTROL_SECRET"));
            return run(control);
        }
    }

    private RedisControlStore store() throws IOException {
        String yaml = options.get("redis-yaml");
        return yaml != null
                ? RedisControlStore.openYaml(Files.readString(Path.of(yaml)))
                : RedisControlStore.open(
                        setting("redis", "LIMITER_REDIS_ADDRESS"),
                        options.get("user") == null ? environment.get("LIMITER_REDIS_USERNAME") : options.get("user"),
                        secret("password-file", "LIMITER_REDIS_PASSWORD"));
    }

    private String setting(String option, String variable) {
        String value = options.get(option, environment.getOrDefault(variable, ""));
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

    private int run(Control control) throws IOException, InterruptedException {
        String command = options.word(0, "the command");
        switch (command) {
            case "publish" -> {
                return publish(control);
            }
            case "roll-back" -> {
                long to = number(options.word(1, "the version"));
                return published(control, control.rollBack(to, author(), note()));
            }
            case "versions" -> print(control.versions(), "text");
            case "show" ->
                out.print(
                        options.size() > 1
                                ? control.version(number(options.word(1, ""))).text()
                                : control.current().text());
            case "instances" -> print(control.instances(), "");
            case "audit" -> print(control.audit(AUDITED), "");
            case "override" -> override(control);
            case "switch" -> turn(control);
            default -> throw new IllegalArgumentException("there is no command " + command);
        }
        return 0;
    }

    private static long number(String text) {
        if (!text.matches("[0-9]{1,15}")) {
            throw new IllegalArgumentException("'" + text + "' is not the number of a version");
        }
        return Long.parseLong(text);
    }

    private String author() {
        return options.get("author", System.getProperty("user.name", "unknown"));
    }

    private String note() {
        return options.get("note", "");
    }

    private int publish(Control control) throws IOException, InterruptedException {
        String text = Files.readString(Path.of(options.word(1, "the file")));
        Control.Version now = control.current();
        long based = options.get("based") == null ? now.version() : number(options.required("based"));
        List<String> changes = Words.changes(now.text(), text);
        changes.forEach(this::say);
        if (changes.isEmpty()) {
            say("nothing differs from version " + now.version());
        }
        if (options.has("dry-run") || changes.isEmpty()) {
            return 0;
        }
        if (based == now.version() && options.has("if-all-accept")) {
            Map<String, String> answers = control.ask(text, author(), LONGEST_WAIT);
            if (answers.isEmpty() || answers.values().stream().anyMatch(why -> !why.isEmpty())) {
                say("nothing was published:"
                        + (answers.isEmpty() ? " no instance has reported that could be asked" : ""));
                return report(answers, "accept it");
            }
        }
        return published(control, control.publish(text, author(), note(), based));
    }

    private int published(Control control, long version) throws InterruptedException {
        say("published version " + version);
        return options.has("wait") ? report(control.await(LONGEST_WAIT), "run it") : 0;
    }

    private int report(Map<String, String> answers, String what) {
        long good = answers.values().stream().filter(String::isEmpty).count();
        say(good + " of " + answers.size() + " instances " + what);
        answers.forEach((name, why) -> {
            if (!why.isEmpty()) {
                say(name + ": " + why);
            }
        });
        return good > 0 && good == answers.size() ? 0 : 1;
    }

    private void override(Control control) {
        String action = options.word(1, "add, remove or list");
        if (action.equals("list")) {
            print(control.entries(), "");
        } else if (action.equals("remove")) {
            say(
                    control.removeOverride(
                                    options.required("policy"), Words.key(options.required("key")), author(), note())
                            ? "removed"
                            : "there was none");
        } else if (action.equals("add")) {
            String limits = options.get("limits", "");
            String kind = options.has("blocked") ? "blocked" : options.has("unlimited") ? "unlimited" : "limits";
            List<String> notes = control.notes(options.required("policy"), limits);
            notes.forEach(this::say);
            if (!notes.isEmpty() && !options.has("yes")) {
                throw new IllegalArgumentException("nothing was changed; add --yes if that is meant");
            }
            control.override(
                    options.required("policy"),
                    Words.key(options.required("key")),
                    kind,
                    limits,
                    until(control),
                    author(),
                    note());
            say("in force within a second");
        } else {
            throw new IllegalArgumentException("there is no command override " + action);
        }
    }

    private void turn(Control control) {
        String action = options.word(1, "set or remove");
        if (action.equals("remove")) {
            say(control.removeSwitch(options.required("target"), author(), note()) ? "removed" : "there was none");
        } else if (action.equals("set")) {
            control.turn(options.required("target"), options.required("action"), until(control), author(), note());
            say("in force within a second");
        } else {
            throw new IllegalArgumentException("there is no command switch " + action);
        }
    }

    private Instant until(Control control) {
        String text = options.required("until");
        try {
            if (text.matches("\\d{4}-\\d{2}-\\d{2}")) {
                return LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
            }
            return text.indexOf('T') > 0 ? Instant.parse(text) : control.now().plus(LimitText.parseDuration(text));
        } catch (DateTimeParseException wrong) {
            throw new IllegalArgumentException(
                    "--until " + text + " is not a time; write 2h, 2026-12-01 or" + " 2026-12-01T08:00:00Z", wrong);
        }
    }

    /** One line for each, of all its components but one. */
    private void print(List<? extends Record> rows, String without) {
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        for (Record row : rows) {
            Map<String, @Nullable Object> cells = new LinkedHashMap<>();
            for (RecordComponent part : row.getClass().getRecordComponents()) {
                if (!part.getName().equals(without)) {
                    cells.put(part.getName(), value(row, part));
                }
            }
            all.add(cells);
        }
        if (options.has("json")) {
            out.println(Json.of(all));
            return;
        }
        all.forEach(cells -> out.println(cells.values().stream()
                .map(cell -> String.valueOf(cell).isEmpty() ? "-" : String.valueOf(cell))
                .collect(Collectors.joining("  "))));
    }

    private static @Nullable Object value(Record row, RecordComponent part) {
        try {
            return part.getAccessor().invoke(row);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void say(String line) {
        out.println(options.has("json") ? Json.of(Map.of("message", line)) : line);
    }
}
