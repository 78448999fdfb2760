package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/** Runs a program on a class path that lacks some libraries. */
public final class Without {
    private Without() {}

    /**
     * What the program returns.
     *
     * @param missing what the names of the missing files, or modules, begin with: one word each
     * @param gone classes that prove that they are missing
     */
    public static Object run(String missing, Class<? extends Callable<?>> program, String... gone) throws Exception {
        List<URL> path = new ArrayList<>();
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : all.split(File.pathSeparator, -1)) {
            if (Arrays.stream(missing.split(" ")).noneMatch(name(Path.of(entry))::startsWith)) {
                path.add(new File(entry).toURI().toURL());
            }
        }
        ClassLoader usual = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Arrays.stream(gone)
                    .forEach(name -> assertThrows(ClassNotFoundException.class, () -> loader.loadClass(name)));
            Thread.currentThread().setContextClassLoader(loader);
            Callable<?> made = (Callable<?>)
                    loader.loadClass(program.getName()).getDeclaredConstructor().newInstance();
            return made.call();
        } finally {
            Thread.currentThread().setContextClassLoader(usual);
        }
    }

    /** That of a jar, or of the module whose classes a folder has. */
    private static String name(Path entry) {
        return (entry.endsWith("target/classes") ? entry.getParent().getParent() : entry)
                .getFileName()
                .toString();
    }
}
