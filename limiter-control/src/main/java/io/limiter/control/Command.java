package io.limiter.control;

import io.limiter.internal.config.LimitText;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A command of operators, as the command line, the endpoint and Java have it: words, {@code --name value} and {@code --flag}. An
 * option that the help does not name does not exist. Immutable.
 */
public final class Command {
    /** What there is. */
    public static final String HELP = help();

    private static final int SHOWN = 50;
    private static final Set<String> FLAGS = Set.of("dry-run");
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    private final List<String> words = new ArrayList<>();
    private final Map<String, String> options = new HashMap<>();

    private Command(List<String> arguments) {
        Deque<String> rest = new ArrayDeque<>(arguments);
        while (!rest.isEmpty()) {
            String argument = rest.pop();
            if (argument.startsWith("--")) {
                String name = argument.substring(2);
                String value = FLAGS.contains(name) ? "true" : rest.poll();
                if (value == null || !HELP.matches("(?s).*\\Q" + argument + "\\E(?![\\w-]).*")) {
                    throw new IllegalArgumentException(
                            "there is no option " + argument + ", or it has no value; see the help");
                }
                options.put(name, value);
            } else {
                words.add(argument);
            }
        }
    }

    /**
     * The command of an argument list.
     *
     * @throws IllegalArgumentException for an option that does not exist, or has no value
     */
    public static Command of(List<String> arguments) {
        return new Command(arguments);
    }

    /** The command of a line, in which a value with spaces is in quotes ("). Throws what {@link #of(List)} does. */
    public static Command of(String line) {
        return new Command(WORD.matcher(line)
                .results()
                .map(word -> Objects.requireNonNullElse(word.group(1), word.group()))
                .toList());
    }

    private static String help() {
        try (InputStream text = Command.class.getResourceAsStream("help.txt")) {
            return new String(Objects.requireNonNull(text, "help.txt").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    /** The word at a place, from 0; empty for none. */
    public String word(int place) {
        return place < words.size() ? words.get(place) : "";
    }

    /** The value of an option; a default if it is not there. */
    public String option(String name, String otherwise) {
        return options.getOrDefault(name, otherwise);
    }

    /** Whether an option is there. */
    public boolean has(String name) {
        return options.containsKey(name);
    }

    /**
     * Runs this, with the checks and answers of each command.
     *
     * @param text that {@code publish} publishes; else not read
     * @param author who runs it
     * @throws IllegalArgumentException if something is wrong or missing; also what the methods of {@link Control} throw
     */
    public Control.Answer run(Control control, String text, String author) {
        return switch (word(0)) {
            case "publish" -> publish(control, text, author);
            case "roll-back" -> rollBack(control, number(word(1)), author);
            case "versions" -> versions(control);
            case "show" ->
                done((word(1).isEmpty() ? control.text() : control.text(number(word(1))))
                        .lines()
                        .toList());
            case "instances" -> instances(control);
            case "set" -> set(control, author);
            case "remove" -> remove(control, author);
            case "list" -> list(control);
            default ->
                throw new IllegalArgumentException(
                        "there is no command '" + String.join(" ", words) + "'; see the help");
        };
    }

    private String needed(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException("--" + name + " is missing; see the help");
        }
        return option(name, "");
    }

    private String note() {
        return option("note", "");
    }

    private static long number(String text) {
        if (!text.matches("[0-9]{1,15}")) {
            throw new IllegalArgumentException("'" + text + "' is not the number of a version");
        }
        return Long.parseLong(text);
    }

    private static Control.Answer done(List<String> lines) {
        return new Control.Answer(true, lines);
    }

    /** Columns below their heads. */
    private static <T> List<String> table(String format, List<String> heads, List<T> rows, Function<T, List<?>> cells) {
        return Stream.concat(Stream.of(heads), rows.stream().map(cells))
                .map(row -> String.format(format, row.toArray()).stripTrailing())
                .toList();
    }

    private static Control.Answer versions(Control control) {
        return done(table(
                "%-8s %-28s %-12s %s  %s",
                List.of("version", "time", "author", "change", "note"),
                control.versions(SHOWN),
                one -> List.of(one.version(), one.time(), one.author(), one.change(), one.note())));
    }

    private static Control.Answer instances(Control control) {
        List<Control.Instance> all = control.instances();
        boolean isDone = !all.isEmpty() && all.stream().allMatch(Control.Instance::isCurrent);
        return new Control.Answer(
                isDone,
                table(
                        "%-40s %-8s %s",
                        List.of("instance", "version", "problem"),
                        all,
                        one -> List.of(one.name(), one.version(), one.problem())));
    }

    private static Control.Answer list(Control control) {
        return done(table(
                "%-40s %-20s %-21s %-12s %s",
                List.of("for", "what", "until", "author", "note"),
                control.entries(),
                one -> List.of(one.id(), one.to(), one.until(), one.author(), one.note())));
    }

    private Control.Answer publish(Control control, String text, String author) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the text is missing; to publish none, roll back to version 0");
        }
        long based = has("based") ? number(needed("based")) : control.version();
        // What nobody has signed can be replaced as if nothing was published.
        List<String> lines = new ArrayList<>(Published.changes(based == 0 ? "" : control.text(), text));
        if (lines.isEmpty()) {
            return done(List.of("nothing differs from what is published"));
        }
        if (has("dry-run")) {
            Published.check(text);
            return done(lines);
        }
        lines.add("published version " + control.publish(text, author, note(), based));
        return done(lines);
    }

    private Control.Answer rollBack(Control control, long version, String author) {
        List<String> lines = new ArrayList<>(Published.changes(control.text(), control.text(version)));
        lines.add("published version " + control.rollBack(version, author, note()));
        return done(lines);
    }

    private Control.Answer set(Control control, String author) {
        Instant until = until(needed("until"), control.now());
        String what = control.set(new Entry(word(1), word(2), needed("to"), until, author, note()));
        return done(List.of(what, "in force within a second"));
    }

    private Control.Answer remove(Control control, String author) {
        String what = control.remove(word(1), word(2), author, note());
        return done(List.of(what.isEmpty() ? "there was none" : what));
    }

    /** The end that is written as {@code 2h} from now, or {@code 2030-01-01T08:00:00Z}. */
    private static Instant until(String text, Instant now) {
        try {
            return text.indexOf('T') > 0
                    ? Instant.parse(text)
                    : now.plus(LimitText.parseDuration(text)).truncatedTo(ChronoUnit.SECONDS);
        } catch (DateTimeException | ArithmeticException wrong) {
            throw new IllegalArgumentException(
                    "until " + text + " is not a time; write 2h or 2030-01-01T08:00:00Z", wrong);
        }
    }
}
