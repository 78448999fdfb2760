package io.limiter.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The files of all modules, without what is built. Tests of other modules run meanwhile, and make and delete files of their own. */
public final class Sources {
    private static final Set<String> BUILT = Set.of("target", ".git", "node_modules");

    private Sources() {}

    /** Their paths from the folder of a module: {@code ../limiter-core/pom.xml}, sorted. */
    public static List<Path> all() {
        List<Path> all = new ArrayList<>();
        try {
            Files.walkFileTree(Path.of(".."), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    boolean isBuilt = BUILT.contains(folder.getFileName().toString());
                    return isBuilt ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    all.add(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path gone, IOException failure) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, IOException failure) {
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.stream().sorted().toList();
    }
}
