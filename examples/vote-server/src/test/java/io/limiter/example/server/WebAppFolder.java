package io.limiter.example.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
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

    Path path() {
        return folder;
    }
}
