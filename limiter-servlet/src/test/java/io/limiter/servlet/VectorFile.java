package io.limiter.servlet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads the data files of the tests: comments, blocks of a name and its indented lines, or plain lines. */
public final class VectorFile {
    private VectorFile() {}

    public record Block(String name, List<String> lines) {
        /** What stands after this start, of all lines that have it. */
        public List<String> after(String start) {
            return lines.stream()
                    .filter(line -> line.startsWith(start))
                    .map(line -> line.substring(start.length()))
                    .toList();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** The lines that are neither empty nor comments. */
    public static List<String> lines(String resource) throws IOException {
        try (InputStream bytes = VectorFile.class.getResourceAsStream(resource)) {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        }
    }

    public static List<Block> blocks(String resource) throws IOException {
        List<Block> blocks = new ArrayList<>();
        for (String line : lines(resource)) {
            if (line.startsWith(" ")) {
                blocks.get(blocks.size() - 1).lines().add(line.strip());
            } else {
                blocks.add(new Block(line, new ArrayList<>()));
            }
        }
        return blocks;
    }
}
