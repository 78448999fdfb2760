package io.limiter.control;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A command of operators, as the command line, the endpoint and Java have it: words, {@code --name value} and {@code --flag}. An
 * option that the help does not name does not exist. Immutable.
 */
public final class Command {
    /** What there is. */
    public static final String HELP = help();

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final int SHOWN = 50;
    private static final Set<String> FLAGS = Set.of("wait", "dry-run", "yes", "unlimited", "blocked", "json");
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
                if (value == null || !HELP.matches("(?s).*\\Q" + argument + "\\E\\b.*")) {
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
     * @throws InterruptedException while it waits for instances
     */
    public Control.Answer run(Control control, String text, String author) throws InterruptedException {
        return switch (word(0)) {
            case "publish" -> publish(control, text, author);
            case "roll-back" -> rollBack(control, number(word(1)), author);
            case "versions" -> rows(control.versions(SHOWN));
            case "show" ->
                done((word(1).isEmpty() ? control.text() : control.text(number(word(1))))
                        .lines()
                        .toList());
            case "instances" -> rows(control.instances());
            case "override", "switch" -> changeOne(control, author);
            default -> throw unknown();
        };
    }

    private IllegalArgumentException unknown() {
        return new IllegalArgumentException("there is no command '" + String.join(" ", words) + "'; see the help");
    }

    private String needed(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException(name + " is missing");
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
        return new Control.Answer(true, lines, List.of());
    }

    private static Control.Answer rows(List<? extends Record> rows) {
        return new Control.Answer(true, List.of(), rows);
    }

    private Control.Answer publish(Control control, String text, String author) throws InterruptedException {
        if (text.isBlank()) {
            throw new IllegalArgumentException("the text is missing; to publish none, roll back to version 0");
        }
        long based = has("based") ? number(needed("based")) : control.version();
        // What nobody has signed can be replaced as if nothing was published.
        List<String> lines = new ArrayList<>(Words.changes(based == 0 ? "" : control.text(), text));
        if (lines.isEmpty()) {
            return done(List.of("nothing differs from what is published"));
        }
        if (has("dry-run")) {
            Words.check(text);
            return done(lines);
        }
        return published(control, lines, control.publish(text, author, note(), based));
    }

    private Control.Answer rollBack(Control control, long version, String author) throws InterruptedException {
        List<String> lines = new ArrayList<>(Words.changes(control.text(), control.text(version)));
        return published(control, lines, control.rollBack(version, author, note()));
    }

    private Control.Answer published(Control control, List<String> lines, long version) throws InterruptedException {
        lines.add("published version " + version);
        if (!has("wait")) {
            return done(lines);
        }
        List<Control.Instance> all = control.await(LONGEST_WAIT);
        long good = all.stream().filter(Control.Instance::isCurrent).count();
        lines.add(good + " of " + all.size() + " instances run it");
        all.stream().filter(one -> !one.isCurrent()).forEach(one -> lines.add(one.name() + ": " + one.problem()));
        return new Control.Answer(good > 0 && good == all.size(), lines, List.of());
    }

    private Control.Answer changeOne(Control control, String author) {
        boolean isSwitch = word(0).equals("switch");
        if (word(1).equals("list")) {
            return rows(control.entries());
        }
        String target = isSwitch ? needed("target") : "policy:" + needed("policy");
        String key = isSwitch ? "" : needed("key");
        if (word(1).equals("remove")) {
            String what = control.remove(target, key, author, note());
            return done(List.of(what.isEmpty() ? "there was none" : what));
        }
        if (!word(1).equals(isSwitch ? "set" : "add")) {
            throw unknown();
        }
        String limits = option("limits", "");
        String to = isSwitch
                ? needed("action")
                : has("unlimited") ? Entry.UNLIMITED : has("blocked") ? Entry.BLOCKED : needed("limits");
        Instant until = Words.until(needed("until"), control.now());
        List<String> lines = new ArrayList<>();
        if (target.startsWith("policy:")) {
            lines.addAll(control.notes(target.substring("policy:".length()), limits));
        }
        if (!lines.isEmpty() && !has("yes")) {
            throw new IllegalArgumentException(
                    String.join("\n", lines) + "\nnothing was changed; add --yes if that is meant");
        }
        lines.add(control.set(new Entry(target, key, to, until, author, note())));
        lines.add("in force within a second");
        return done(lines);
    }
}
