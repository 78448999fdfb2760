package io.limiter.control;

import io.limiter.internal.config.ConfigText;
import io.limiter.internal.config.LimitText;
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
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A command of operators, as the command line, the endpoint and Java have it: words, {@code --name value} and {@code --flag}.
 * Immutable.
 */
public final class Command {
    /** What there is. */
    public static final String HELP = ConfigText.resource(Command.class, "help.txt");

    private static final int SHOWN = 50;
    private static final String DRY_RUN = "dry-run";
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    private final List<String> words = new ArrayList<>();
    private final Map<String, String> options = new HashMap<>();

    private Command(List<String> arguments) {
        Deque<String> rest = new ArrayDeque<>(arguments);
        while (!rest.isEmpty()) {
            String argument = rest.pop();
            if (argument.startsWith("--")) {
                String name = argument.substring(2);
                String value = name.equals(DRY_RUN) ? "true" : rest.poll();
                if (value == null || value.startsWith("--")) {
                    throw new IllegalArgumentException(
                            "'" + word(0) + "' has no option " + argument + ", or its value is missing; see the help");
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
     * @throws IllegalArgumentException for an option that has no value
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
            case "publish" -> checked(2, "note", "author", "based", DRY_RUN).publish(control, text, author);
            case "roll-back" -> checked(2, "note", "author", DRY_RUN).rollBack(control, number(word(1)), author);
            case "versions" -> checked(1).versions(control);
            case "show" -> checked(2).show(control);
            case "instances" -> checked(1).instances(control);
            case "set" -> checked(3, "to", "until", "note", "author").set(control, author);
            case "remove" -> checked(3, "note", "author").remove(control, author);
            case "list" -> checked(1).list(control);
            default ->
                throw new IllegalArgumentException(
                        "there is no command '" + String.join(" ", words) + "'; see the help");
        };
    }

    /** This; throws if it has more words, or other options, than its command takes: who writes them expects that they count. */
    private Command checked(int most, String... known) {
        List<String> other = new ArrayList<>(options.keySet());
        other.removeAll(List.of(known));
        other.replaceAll("--"::concat);
        words.stream().skip(most).forEach(other::add);
        if (!other.isEmpty()) {
            throw new IllegalArgumentException(
                    "'" + word(0) + "' does not take " + String.join(" ", other) + "; see the help");
        }
        return this;
    }

    private String needed(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException("--" + name + " is missing; see the help");
        }
        return option(name, "");
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

    private Control.Answer versions(Control control) {
        return done(table(
                "%-8s %-28s %-12s %s  %s",
                List.of("version", "time", "author", "change", "note"),
                control.versions(SHOWN),
                one -> List.of(one.version(), one.time(), one.author(), one.change(), one.note())));
    }

    private Control.Answer show(Control control) {
        long version = word(1).isEmpty() ? control.version() : number(word(1));
        return done(control.text(version).lines().toList());
    }

    private Control.Answer instances(Control control) {
        List<Control.Instance> all = control.instances();
        boolean isDone = !all.isEmpty() && all.stream().allMatch(Control.Instance::isCurrent);
        List<String> lines = table(
                "%-40s %-8s %s",
                List.of("instance", "version", "problem"),
                all,
                one -> List.of(one.name(), one.version(), one.problem()));
        return new Control.Answer(isDone, lines);
    }

    private Control.Answer list(Control control) {
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
        Published.check(text);
        long based = has("based") ? number(needed("based")) : control.version();
        // What nobody has signed can be replaced as if nothing was published.
        List<String> lines = new ArrayList<>(Published.changes(based == 0 ? "" : control.text(), text));
        if (lines.isEmpty()) {
            return done(List.of("nothing differs from what is published"));
        }
        if (!has(DRY_RUN)) {
            lines.add("published version " + control.publish(text, author, option("note", ""), based));
        }
        return done(lines);
    }

    private Control.Answer rollBack(Control control, long version, String author) {
        List<String> lines = new ArrayList<>(Published.changes(control.text(), control.text(version)));
        if (!has(DRY_RUN)) {
            lines.add("published version " + control.rollBack(version, author, option("note", "")));
        }
        return done(lines);
    }

    private Control.Answer set(Control control, String author) {
        Instant until = until(needed("until"), control.now());
        String what = control.set(new Entry(word(1), word(2), needed("to"), until, author, option("note", "")));
        return done(List.of(what, "in force within a second"));
    }

    private Control.Answer remove(Control control, String author) {
        String what = control.remove(word(1), word(2), author, option("note", ""));
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
