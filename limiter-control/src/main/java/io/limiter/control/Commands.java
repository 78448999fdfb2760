package io.limiter.control;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The commands of operators, by their names: one table for the command line, the endpoint and Java. */
record Commands(Control control, Map<String, String> arguments, String author) {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final int SHOWN = 50;
    private static final List<String> OVERRIDES = List.of("limits", "unlimited", "blocked");

    Control.Answer run(String command) throws InterruptedException {
        return switch (command) {
            case "publish" -> publish();
            case "roll-back" -> rollBack(number("version"));
            case "versions" -> rows(control.versions(SHOWN));
            case "show" ->
                done((has("version") ? control.text(number("version")) : control.text())
                        .lines()
                        .toList());
            case "instances" -> rows(control.instances());
            case "override list" -> rows(control.entries());
            case "override add" -> set(policy(), needed("key"), override());
            case "override remove" -> removed(policy(), needed("key"));
            case "switch set" -> set(needed("target"), "", needed("action"));
            case "switch remove" -> removed(needed("target"), "");
            default ->
                throw new IllegalArgumentException("there is no command '" + command
                        + "'; write publish, roll-back, versions, show, instances, override add, override remove,"
                        + " override list, switch set or switch remove");
        };
    }

    private boolean has(String name) {
        return arguments.containsKey(name);
    }

    private String optional(String name) {
        return arguments.getOrDefault(name, "");
    }

    private String needed(String name) {
        String value = arguments.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }

    private String note() {
        return optional("note");
    }

    private String policy() {
        return "policy:" + needed("policy");
    }

    private long number(String name) {
        String text = needed(name);
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

    private Control.Answer publish() throws InterruptedException {
        String text = needed("text");
        long based = has("based") ? number("based") : control.version();
        // What nobody has signed can be replaced as if nothing was published.
        List<String> lines = new ArrayList<>(Words.changes(based == 0 ? "" : control.text(), text));
        if (lines.isEmpty()) {
            return done(List.of("nothing differs from what is published"));
        }
        if (has("dry-run")) {
            Words.check(text);
            return done(lines);
        }
        return published(lines, control.publish(text, author, note(), based));
    }

    private Control.Answer rollBack(long version) throws InterruptedException {
        List<String> lines = new ArrayList<>(Words.changes(control.text(), control.text(version)));
        return published(lines, control.rollBack(version, author, note()));
    }

    private Control.Answer published(List<String> lines, long version) throws InterruptedException {
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

    private String override() {
        return OVERRIDES.stream()
                .filter(this::has)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("write limits, unlimited or blocked"));
    }

    private Control.Answer set(String target, String key, String action) {
        String limits = optional("limits");
        Instant until = Words.until(needed("until"), control.now());
        List<String> lines = new ArrayList<>();
        if (target.startsWith("policy:")) {
            lines.addAll(control.notes(target.substring("policy:".length()), limits));
        }
        if (!lines.isEmpty() && !has("yes")) {
            throw new IllegalArgumentException(
                    String.join("\n", lines) + "\nnothing was changed; add yes if that is meant");
        }
        lines.add(control.set(target, key, action, limits, until, author, note()));
        lines.add("in force within a second");
        return done(lines);
    }

    private Control.Answer removed(String target, String key) {
        String what = control.remove(target, key, author, note());
        return done(List.of(what.isEmpty() ? "there was none" : what));
    }
}
