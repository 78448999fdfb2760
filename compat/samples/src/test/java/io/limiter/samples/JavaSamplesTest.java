package io.limiter.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Pages;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every Java sample of the documentation compiles with the imports that it shows. A sample is a type, members, or statements. What
 * a sample takes from its surroundings is declared in a comment above it, which no reader sees:
 * {@code <!-- given: static Limiter limiter; -->}. Those of docs/recipes compile, and run, in compat/recipes.
 */
class JavaSamplesTest {
    private static final Path HERE = Path.of("src/test/java/com/example");
    private static final Pattern SAMPLE =
            Pattern.compile("(?m)(?:^<!-- given: ((?s:.*?)) -->\n)?^```java([^\n]*)\n((?s:.*?))^```$");
    private static final Pattern HEAD = Pattern.compile("(?m)^(?:package|import) [^;]+;\n");

    @TempDir
    Path classes;

    @Test
    void everySampleCompiles() {
        List<JavaFileObject> units = new ArrayList<>();
        Map<String, String> origins = new TreeMap<>();
        List<Path> pages = new ArrayList<>(Pages.all());
        pages.removeAll(Pages.of("recipes"));
        for (Path page : pages) {
            Matcher sample = SAMPLE.matcher(Pages.read(page));
            while (sample.find()) {
                assertEquals("", sample.group(2), Pages.name(page) + ": a sample has no way around the compiler");
                String name = "sample" + units.size();
                origins.put(name, Pages.name(page));
                String given = sample.group(1) == null ? "" : sample.group(1);
                units.add(unit(name, given, sample.group(3)));
            }
        }
        assertTrue(units.size() > 30, units.size() + " samples");
        assertEquals("", errors(units, origins));
    }

    private static JavaFileObject unit(String name, String given, String sample) {
        String code = HEAD.matcher(sample).replaceAll("");
        StringBuilder text = new StringBuilder("package " + name + ";\n");
        HEAD.matcher(sample)
                .results()
                .filter(line -> line.group().startsWith("import"))
                .forEach(line -> text.append(line.group()));
        if (sample.contains("package ")) {
            return source(name + "/" + typeIn(code) + ".java", text + code);
        }
        boolean members =
                code.strip().matches("(?s)(?:@|/\\*\\*|(?:public|private|static|final|class|interface|record) ).*");
        text.append("class Sample {\n").append(given);
        text.append(members ? code : "static void sample() throws Exception {\n" + code + "}\n");
        return source(name + "/Sample.java", text.append("}\n").toString());
    }

    private static String typeIn(String code) {
        Matcher type = Pattern.compile("(?m)^public (?:final )?(?:class|interface|record) (\\w+)")
                .matcher(code);
        assertTrue(type.find(), code);
        return type.group(1);
    }

    private static JavaFileObject source(String path, String text) {
        return new SimpleJavaFileObject(URI.create("string:///" + path), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    private String errors(List<JavaFileObject> units, Map<String, String> origins) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        compiler.getTask(
                        null,
                        null,
                        found,
                        List.of("-proc:none", "-parameters", "-d", classes.toString(), "-classpath", path),
                        null,
                        units)
                .call();
        StringBuilder errors = new StringBuilder();
        for (Diagnostic<? extends JavaFileObject> one : found.getDiagnostics()) {
            if (one.getKind() == Diagnostic.Kind.ERROR) {
                String name =
                        one.getSource() == null ? "" : one.getSource().getName().split("/", -1)[1];
                errors.append(origins.get(name))
                        .append(": ")
                        .append(one.getMessage(Locale.ROOT))
                        .append('\n')
                        .append(lineOf(one))
                        .append('\n');
            }
        }
        return errors.toString();
    }

    private static String lineOf(Diagnostic<? extends JavaFileObject> error) {
        try {
            return error.getSource() == null
                    ? ""
                    : error.getSource()
                            .getCharContent(true)
                            .toString()
                            .lines()
                            .toList()
                            .get((int) error.getLineNumber() - 1);
        } catch (IOException e) {
            return e.toString();
        }
    }

    @Test
    void theSamplesThatRunAreThoseOfThePages() throws IOException {
        List<String> shown = new ArrayList<>();
        for (Path page : Pages.all()) {
            Pages.blocks(Pages.read(page), "java").forEach(block -> shown.add(flat(block)));
        }
        try (Stream<Path> files = Files.list(HERE)) {
            for (Path file : files.sorted().toList()) {
                String code = flat(Files.readString(file).replaceFirst("package com.example;", ""));
                assertTrue(
                        shown.contains(code) || shown.contains("packagecom.example;" + code),
                        "no page shows " + file + ":\n" + Files.readString(file));
            }
        }
    }

    /** Without white space: the formatter indents and breaks lines as it likes. */
    private static String flat(String code) {
        return code.replaceAll("\\s+", "");
    }

    @Test
    void aPageThatNamesALibraryNamesWhatElseItNeeds() {
        for (Path page : Pages.all()) {
            String text = Pages.read(page);
            if (text.contains("<artifactId>limiter-")) {
                assertTrue(text.contains("SLF4J provider"), Pages.name(page) + " names no SLF4J provider");
            }
        }
    }

    @Test
    void theVersionsOfThePagesAreThoseOfTheBuild() {
        // A plugin that one module uses has its version there.
        String pom = Pages.read(Pages.root().resolve("pom.xml"))
                + Pages.read(Pages.root().resolve("examples/vote-webapp/pom.xml"));
        Map<String, String> properties = new TreeMap<>();
        properties.put("slf4j-simple", property(pom, "slf4j.version"));
        properties.put("spring-boot-starter-parent", property(pom, "boot41.version"));
        properties.put("spring-webmvc", property(pom, "spring7.version"));
        properties.put("spring-expression", property(pom, "spring7.version"));
        properties.put("tomcat-embed-core", property(pom, "tomcat11.version"));
        properties.put("aspectjrt", property(pom, "aspectj.version"));
        properties.put("aspectjtools", property(pom, "aspectj.version"));
        properties.put("grpc-netty-shaded", property(pom, "grpc.version"));
        properties.put("grpc-services", property(pom, "grpc.version"));
        for (String plugin :
                List.of("aspectj-maven-plugin", "maven-war-plugin", "maven-compiler-plugin", "exec-maven-plugin")) {
            Matcher version = Pattern.compile("<artifactId>" + plugin + "</artifactId>\\s*<version>(.+)</version>")
                    .matcher(pom);
            assertTrue(version.find(), plugin);
            properties.put(plugin, version.group(1));
        }
        String own = property(pom, "version");
        int checked = 0;
        Matcher gradle =
                Pattern.compile("io\\.limiter:limiter-spring:([^\")]+)").matcher(Pages.readme());
        assertTrue(gradle.find(), "the README has no dependency for Gradle");
        assertEquals(own, gradle.group(1));
        for (Path page : Pages.all()) {
            Matcher block = Pattern.compile("<artifactId>([\\w-]+)</artifactId>\\s*<version>([^<]+)</version>")
                    .matcher(Pages.read(page));
            while (block.find()) {
                String expected = block.group(1).startsWith("limiter-") ? own : properties.get(block.group(1));
                if (expected != null) {
                    assertEquals(expected, block.group(2), Pages.name(page) + ": " + block.group(1));
                    checked++;
                }
            }
        }
        assertTrue(checked > 10, checked + " versions");
        assertTrue(
                Pages.text("getting-started/plain-java")
                        .contains("exec-maven-plugin:" + properties.get("exec-maven-plugin") + ":"),
                "exec-maven-plugin");
    }

    private static String property(String pom, String name) {
        Matcher value = Pattern.compile("<" + name + ">([^<]+)</" + name + ">").matcher(pom);
        assertTrue(value.find(), name);
        return value.group(1);
    }
}
