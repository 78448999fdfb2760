package io.limiter.control;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The commands of operators, by their names: one table for the command line, the endpoint and Java. */
record Commands(Control control, Map<String, String> arguments, String author) {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final int AUDITED = 50;
    private static final List<String> OVERRIDES = List.of("limits", "unlimited", "blocked");

    Control.Answer run(String command) throws InterruptedException {
        return switch (command) {
            case "publish" -> publish();
            case "roll-back" -> published(control.rollBack(number("version"), author, note()));
            case "versions" ->
                rows(control.versions().stream()
                        .map(one -> new Control.Version(one.version(), one.time(), one.author(), one.note(), ""))
                        .toList());
            case "show" ->
                done((has("version") ? control.version(number("version")) : control.current())
                        .text()
                        .lines()
                        .toList());
            case "instances" -> rows(control.instances());
            case "audit" -> rows(control.audit(AUDITED));
            case "override list" -> rows(control.entries());
            case "override add" -> set(policy(), needed("key"), override());
            case "override remove" -> removed(policy(), needed("key"));
            case "switch set" -> set(needed("target"), "", needed("action"));
            case "switch remove" -> removed(needed("target"), "");
            default ->
                throw new IllegalArgumentException("there is no command '" + command
                        + "'; write publish, roll-back, versions, show, instances, audit, override add, override remove,"
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
        Control.Version now = control.current();
        long based = has("based") ? number("based") : now.version();
        List<String> lines = new ArrayList<>(Words.changes(now.text(), text));
        if (lines.isEmpty()) {
            lines.add("nothing differs from version " + now.version());
            return done(lines);
        }
        if (has("dry-run")) {
            return done(lines);
        }
        if (based == now.version() && has("if-all-accept")) {
            Map<String, String> answers = control.ask(text, author, LONGEST_WAIT);
            if (answers.isEmpty() || answers.values().stream().anyMatch(why -> !why.isEmpty())) {
                lines.add("nothing was published:"
                        + (answers.isEmpty() ? " no instance has reported that could be asked" : ""));
                return report(lines, answers, "accept it");
            }
        }
        Control.Answer done = published(control.publish(text, author, note(), based));
        lines.addAll(done.lines());
        return new Control.Answer(done.isDone(), lines, List.of());
    }

    private Control.Answer published(long version) throws InterruptedException {
        List<String> lines = new ArrayList<>(List.of("published version " + version));
        return has("wait") ? report(lines, control.await(LONGEST_WAIT), "run it") : done(lines);
    }

    private static Control.Answer report(List<String> lines, Map<String, String> answers, String what) {
        long good = answers.values().stream().filter(String::isEmpty).count();
        lines.add(good + " of " + answers.size() + " instances " + what);
        answers.forEach((name, why) -> {
            if (!why.isEmpty()) {
                lines.add(name + ": " + why);
            }
        });
        return new Control.Answer(good > 0 && good == answers.size(), lines, List.of());
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
        control.set(target, key, action, limits, until, author, note());
        lines.add("in force within a second");
        return done(lines);
    }

    private Control.Answer removed(String target, String key) {
        return done(List.of(control.remove(target, key, author, note()) ? "removed" : "there was none"));
    }
}
