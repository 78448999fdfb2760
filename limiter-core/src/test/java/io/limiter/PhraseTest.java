package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Comments, messages and pages are in plain technical English: certain phrases are not used. */
class PhraseTest {
    /**
     * A phrase, and what to write instead.
     *
     * @param words in lower case; a text without any of them does not have the phrase
     * @param pattern one space stands for all white space, line breaks and comment marks between two words
     */
    private record Phrase(Set<String> words, Pattern pattern, String instead) {
        static Phrase of(String words, String regex, String instead) {
            return new Phrase(Set.of(words.split(" ")), Pattern.compile(regex), instead);
        }

        /** Any of these words. */
        static Phrase of(String words, String instead) {
            return of(words, "\\b(?i:" + words.replace(' ', '|') + ")\\b", instead);
        }
    }

    private static final List<Phrase> PHRASES = List.of(
            Phrase.of("who", "\\bWho\\b(?= [a-z])(?![^.;:|]*\\?)", "'A client that ...', 'Callers that ...'"),
            Phrase.of("who", "(?:[;(]|\\b(?i:for|by|of|than|from)) who\\b", "'callers that ...', 'a client that ...'"),
            Phrase.of("whoever whomever whosoever", "'callers that ...', 'a client that ...', 'code that ...'"),
            Phrase.of("whose", "(?:[;:(]|\\b(?i:for)) [Ww]hose\\b", "'callers that ...', 'of which ...'"),
            Phrase.of("he his him himself she her hers herself", "'it', 'they', or the noun again"),
            Phrase.of(
                    "tell tells told telling",
                    "is logged, is reported, returns, contains; for 'told apart': distinguished"),
            Phrase.of("says said", "returns, requires, contains, is logged"),
            Phrase.of("start", "\\b(?i)stop(?:s|ped|ping)? (?:\\w+ )?start\\b", "fails startup"),
            Phrase.of(
                    "start",
                    "\\b(?i)(?:at|before|after|fails?|refuses?|during|since) (?:the|this|a|each|every|its) start\\b(?! of)",
                    "startup"),
            Phrase.of(
                    "stand stands stood standing",
                    "\\b(?i)(?:stand|stands|stood|standing)\\b(?!-| in\\b| alone)",
                    "is, exists, is set, represents"),
            Phrase.of("mend mends mended mending", "fix, fixed"),
            Phrase.of(
                    "let lets letting",
                    "\\b(?i)(?:let|lets|letting) (?:\\w+ ){0,4}(?:pass|through)\\b",
                    "allows, admits"),
            Phrase.of("pass", "\\b(?i)(?:may|might) pass\\b", "is allowed, is admitted"),
            Phrase.of(
                    "pass passes",
                    "\\b(?i)(?:calls?|requests?|charges?|callers?|clients?) (?:may |would |can )?pass(?:es)?\\b(?! through)",
                    "is allowed, is admitted"),
            Phrase.of(
                    "away",
                    "\\b(?i)(?:is|are|was|were|be|been|goes|went|gone|as|not|still|Redis|servers?|masters?|nodes?|backend) away\\b",
                    "unreachable, down"),
            Phrase.of(
                    "back",
                    "\\b(?i)(?:Redis|servers?|masters?|nodes?|backend|it) (?:is|are|was|were|comes?|came) back\\b(?! to\\b)",
                    "has recovered, is reachable again, is returned"),
            Phrase.of("business businesses", "the application, the use case"),
            Phrase.of("stamp stamps", "(?<!max-)\\b(?i)stamps?\\b(?! [=<>~]| later\\b)", "timestamp, timestamps"),
            Phrase.of(
                    "room rooms",
                    "\\b(?i)(?:rooms|(?:a|the|this|its|each|every|other|one) room)\\b(?! for)",
                    "package"),
            Phrase.of("house", "project, package"),
            Phrase.of(
                    "nobody nothing none",
                    "\\b(?i)(?:not|never|nor) (?:be |for |to )?(?:nobody|nothing|none)\\b",
                    "the positive statement"),
            Phrase.of("another", "\\b(?i)another (?:quota|key) (?:each|every) time\\b", "a new quota every time"),
            Phrase.of("one", "\\b(?i)one (?:quota|limit) for all\\b", "a shared quota"),
            Phrase.of(
                    "meanwhile",
                    "\\b(?i)(?:comes?|came|coming|change[sd]?|happen(?:s|ed)?) meanwhile\\b",
                    "in the meantime, since then"),
            Phrase.of("good", "\\b(?i)in good time\\b", "in time"),
            Phrase.of("hardly", "almost never, barely"),
            Phrase.of("many", "\\b(?i)so many\\b(?! that\\b)", "the number, or 'that many' after it"),
            Phrase.of("rule rules", "\\b(?i)rules? (?:that )?(?:is|are) for\\b", "matches, applies to"));

    /** Files with other people's words, by the end of their paths: each with the reason. */
    private static final Map<String, String> LEFT_OUT = Map.of(
            "io/limiter/PhraseTest.java", "lists the phrases",
            "io/limiter/redis/PlantedFaults.java", "quotes lines of Lua, with their names of variables",
            "benchmark/redis/today/*.lua", "scripts as they were on a day, with their hashes",
            "io/limiter/redis/*.lua", "the hashes of the scripts include their comments, and a test pins them");

    /** What is before a name, which is no word of a sentence. */
    private static final Pattern BEFORE_NAME = Pattern.compile("(?:@param|code|class=|id=) $|[.]$");

    private static final Pattern NO_SOURCES = Pattern.compile("target|node_modules|results|\\..+");

    private static final Pattern ALL = Pattern.compile("(?s).+");

    /** What is text in a source: comments and literals. */
    private static final Map<String, Pattern> TEXTS = Map.of(
            "java",
            Pattern.compile("/\\*(?:[^*]|\\*(?!/))*+\\*/|//[^\n]*+|\"\"\"(?:[^\"]|\"(?!\"\"))*+\"\"\""
                    + "|\"(?:[^\"\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\n]|\\\\.)*+'"),
            "js",
            Pattern.compile("/\\*(?:[^*]|\\*(?!/))*+\\*/|//[^\n]*+|`[^`]*+`|\"[^\"\n]*+\"|'(?:[^'\\\\\n]|\\\\.)*+'"),
            "lua",
            Pattern.compile("--[^\n]*+"),
            "md",
            ALL,
            "properties",
            ALL,
            "yml",
            ALL,
            "html",
            ALL,
            "json",
            ALL);

    @Test
    void noTextHasAPhraseThatIsHardToRead() throws IOException {
        List<String> found = new ArrayList<>();
        List<Path> files = files(Path.of(".."));
        assertTrue(files.size() > 500, "only " + files.size() + " files were found");
        for (Path file : files) {
            found.addAll(found(file.toString(), Files.readString(file)));
        }
        assertEquals("", String.join("\n", found));
    }

    @Test
    void phrasesAreFoundInTextsAcrossLinesAndNotInCode() {
        String text = """
                int told = stamps; /** The client is
                 * told. A
                   room, a stand-alone room for 3 stamps. */
                String message = "he lets the"
                        + " query pass";
                """;
        assertEquals(
                List.of("4: 'he'", "2: 'told'", "4: 'lets the query pass'", "3: 'stamps'", "2: 'A room'"),
                found("A.java", text).stream()
                        .map(line -> line.replaceAll("^A.java:|; write .*", ""))
                        .toList());
        assertEquals(
                List.of(),
                found("A.md", "Who can read this? A standard: stand-alone, and room for *more*. Throw it away."));
    }

    /** The phrases in a text of a file, each with its line and what to write instead. */
    private static List<String> found(String file, String source) {
        StringBuilder flat = new StringBuilder(source.length());
        int[] offsets = new int[source.length() + 1];
        Pattern texts = TEXTS.get(file.substring(file.lastIndexOf('.') + 1));
        int[] end = {0};
        texts.matcher(source).results().forEach(part -> {
            // Between parts of one literal there is a plus; between other texts there is code.
            boolean isApart = !source.substring(end[0], part.start()).matches("\\s*\\+?\\s*");
            append(isApart ? "|" : " ", source, part, flat, offsets);
            end[0] = part.end();
        });
        Set<String> words =
                new HashSet<>(List.of(flat.toString().toLowerCase(Locale.ROOT).split("[^a-z]+")));
        List<String> found = new ArrayList<>();
        for (Phrase phrase : PHRASES) {
            if (phrase.words.stream().anyMatch(words::contains)) {
                phrase.pattern
                        .matcher(flat)
                        .results()
                        .filter(match -> !BEFORE_NAME
                                .matcher(flat.substring(Math.max(0, match.start() - 8), match.start()))
                                .find())
                        .map(match -> file + ":" + line(source, offsets[match.start()]) + ": '" + match.group()
                                + "'; write " + phrase.instead)
                        .forEach(found::add);
            }
        }
        return found;
    }

    /** Adds a text: white space and the marks of comments and literals become one space. */
    private static void append(String before, String source, MatchResult part, StringBuilder flat, int[] offsets) {
        String pending = before;
        for (int i = part.start(); i < part.end(); i++) {
            char c = source.charAt(i);
            boolean isMark = Character.isWhitespace(c) || "*\"/#".indexOf(c) >= 0 || c == '-' && !isInWord(source, i);
            if (isMark) {
                pending = pending.isEmpty() ? " " : pending;
            } else {
                if (!pending.isEmpty() && flat.length() + 1 < offsets.length) {
                    offsets[flat.length()] = i;
                    flat.append(pending);
                }
                pending = "";
                offsets[flat.length()] = i;
                flat.append(c);
            }
        }
    }

    private static boolean isInWord(String source, int at) {
        return at > 0
                && at + 1 < source.length()
                && Character.isLetterOrDigit(source.charAt(at - 1))
                && Character.isLetterOrDigit(source.charAt(at + 1));
    }

    private static long line(String source, int offset) {
        return 1 + source.substring(0, offset).chars().filter(c -> c == '\n').count();
    }

    private static List<Path> files(Path root) throws IOException {
        Set<java.nio.file.PathMatcher> leftOut = LEFT_OUT.keySet().stream()
                .map(end -> root.getFileSystem().getPathMatcher("glob:**/" + end))
                .collect(Collectors.toSet());
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return !folder.equals(root)
                                && NO_SOURCES
                                        .matcher(folder.getFileName().toString())
                                        .matches()
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.getFileName().toString();
                if (TEXTS.containsKey(name.substring(name.lastIndexOf('.') + 1))
                        && leftOut.stream().noneMatch(end -> end.matches(file))) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
    }
}
