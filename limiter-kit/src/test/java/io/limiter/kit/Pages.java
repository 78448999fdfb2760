package io.limiter.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The documentation, found by subject: {@code docs/rules.md} and all pages below {@code docs/rules/} are "rules". */
public final class Pages {
    private static final Path ROOT = find();

    private Pages() {}

    /** The folder of the whole project. */
    public static Path root() {
        return ROOT;
    }

    private static Path find() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("CHANGELOG.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** The pages of a subject, the first page first and those of the folder by name. */
    public static List<Path> of(String subject) {
        List<Path> pages = new ArrayList<>();
        Path first = ROOT.resolve("docs").resolve(subject + ".md");
        if (Files.exists(first)) {
            pages.add(first);
        }
        pages.addAll(below(ROOT.resolve("docs").resolve(subject)));
        if (pages.isEmpty()) {
            throw new IllegalArgumentException("no page about " + subject);
        }
        return pages;
    }

    /** Every page that is tested: those of docs, of design and of the examples, and those beside the README.md. */
    public static List<Path> all() {
        List<Path> pages = Stream.of(
                        "README.md", "examples/README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
                .map(ROOT::resolve)
                .filter(Files::exists)
                .collect(Collectors.toCollection(ArrayList::new));
        pages.addAll(below(ROOT.resolve("docs")));
        pages.addAll(below(ROOT.resolve("design")));
        return pages;
    }

    private static List<Path> below(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text of all pages of a subject. */
    public static String text(String subject) {
        return of(subject).stream().map(Pages::read).collect(Collectors.joining("\n"));
    }

    public static String readme() {
        return read(ROOT.resolve("README.md"));
    }

    /** The page with the commands of the examples. */
    public static String examples() {
        return read(ROOT.resolve("examples/README.md"));
    }

    public static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The path of a page as a link from the root would write it. */
    public static String name(Path page) {
        return ROOT.relativize(page).toString();
    }

    /** The content of each fenced block of a language. */
    public static List<String> blocks(String text, String language) {
        return Pattern.compile("(?m)^```" + language + "\n((?s:.*?))^```$")
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** A Java sample without its package and imports. */
    public static String code(String sample) {
        return sample.replaceAll("(?m)^(?:package|import) [^;]+;\n", "");
    }

    /** The text without fenced blocks. */
    public static String prose(String text) {
        return text.replaceAll("(?ms)^```.*?^```$", "");
    }

    /** What a heading is called in a link. */
    public static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
    }
}
