package io.limiter.kit;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of all modules, without what is built. Tests of other modules run meanwhile, and make and delete files of their own. */
public final class Sources {
    private static final Set<String> BUILT = Set.of("target", ".git", "node_modules");

    private Sources() {}

    /** Their paths from the folder of a module: {@code ../limiter-core/pom.xml}, sorted. */
    public static List<Path> all() {
        return below(Path.of(".."));
    }

    /** Those in a folder. */
    public static List<Path> below(Path folder) {
        return below(folder.toFile()).map(File::toPath).sorted().toList();
    }

    /** A file itself; nothing of a folder that is gone. */
    private static Stream<File> below(File one) {
        File[] content = one.listFiles();
        return content == null
                ? Stream.of(one).filter(File::isFile)
                : Stream.of(content)
                        .filter(each -> !BUILT.contains(each.getName()))
                        .flatMap(Sources::below);
    }
}
