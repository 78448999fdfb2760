package io.limiter.servlet;

import io.limiter.kit.Vectors;
import java.util.ArrayList;
import java.util.List;

/** Reads the data files of the tests: comments, blocks of a name and its indented lines, or plain lines. */
public final class VectorFile {
    private VectorFile() {}

    public record Block(String name, List<String> lines) {
        /** The rest of all lines with this prefix. */
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
    public static List<String> lines(String resource) {
        return Vectors.lines(VectorFile.class, resource);
    }

    public static List<Block> blocks(String resource) {
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
