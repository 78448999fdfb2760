package io.limiter.example.server;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Enumeration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The web application as a folder, so that a test can write another configuration into it. */
final class WebAppFolder {
    private static final String WEB_XML = """
            <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
            %s
            </web-app>
            """;

    /** Jars of the tests' class path that a web application does not bring. */
    private static final String OF_THE_CONTAINER =
            "(tomcat|jakarta|junit|surefire|embedded-redis|opentest4j|apiguardian|ecj|mockito|slf4j|limiter).*";

    private final Path folder;

    private WebAppFolder(Path folder) {
        this.folder = folder;
    }

    /** Unpacks the WAR into a folder. */
    static WebAppFolder unpack(Path folder) throws IOException {
        try (ZipFile war = new ZipFile(System.getProperty("vote.war"))) {
            for (Enumeration<? extends ZipEntry> all = war.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                Path file = folder.resolve(entry.getName());
                if (!entry.isDirectory()) {
                    Files.createDirectories(file.getParent());
                    try (InputStream bytes = war.getInputStream(entry)) {
                        Files.copy(bytes, file);
                    }
                }
            }
        }
        return new WebAppFolder(folder);
    }

    /** Replaces what its web.xml holds. */
    WebAppFolder webXml(String elements) throws IOException {
        Files.writeString(folder.resolve("WEB-INF/web.xml"), WEB_XML.formatted(elements));
        return this;
    }

    /** Replaces its limiter.properties. */
    WebAppFolder properties(String text) throws IOException {
        Files.writeString(folder.resolve("WEB-INF/limiter.properties"), text);
        return this;
    }

    /** Puts Redisson and what it needs into the web application itself. */
    WebAppFolder withRedisson() throws IOException {
        Path lib = folder.resolve("WEB-INF/lib");
        for (String jar : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path file = Path.of(jar);
            if (jar.endsWith(".jar") && !String.valueOf(file.getFileName()).matches(OF_THE_CONTAINER)) {
                Files.copy(file, lib.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return this;
    }

    Path path() {
        return folder;
    }
}
