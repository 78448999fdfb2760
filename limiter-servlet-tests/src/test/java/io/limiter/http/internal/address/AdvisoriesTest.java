package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Vulnerabilities of other software; advisories.txt maps advisories to tests, or to rows of walks.txt. */
class AdvisoriesTest {
    @Test
    void eachAdvisoryHasATestOrASentence() throws IOException {
        Path walks = Path.of("src", "test", "resources", "io", "limiter", "http", "internal", "address", "walks.txt");
        List<String[]> rows = Rows.of("advisories.txt");
        Set<String> advisories = new HashSet<>();
        for (String[] row : rows) {
            assertTrue(row[0].matches("CVE-[0-9]{4}-[0-9]{4,6}|GHSA(-[a-z0-9]{4}){3}"), row[0]);
            assertTrue(advisories.add(row[0]), row[0] + " is there twice");
            if (row[1].startsWith("sentence: ")) {
                assertTrue(row[1].length() > 80 && row[1].endsWith("."), row[1]);
                continue;
            }
            if (row[1].equals("walks.txt")) {
                assertTrue(Files.readString(walks).contains(row[0]), row[0]);
                continue;
            }
            String[] test = row[1].split(" ", -1);
            assertEquals(3, test.length, row[1]);
            String source = source(test[0], test[1] + ".java");
            assertTrue(source.contains("void " + test[2] + "("), row[0] + ": there is no test " + row[1]);
        }
        assertEquals(30, advisories.size());
    }

    /** Of a module, or of the one that has those of its tests that use the kit. */
    private static String source(String module, String file) throws IOException {
        for (String name : List.of(module, module + "-tests")) {
            Path folder = Path.of("..", name, "src", "test", "java");
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    Optional<Path> found =
                            files.filter(path -> path.endsWith(file)).findFirst();
                    if (found.isPresent()) {
                        return Files.readString(found.get());
                    }
                }
            }
        }
        throw new AssertionError(module + " has no " + file);
    }
}
