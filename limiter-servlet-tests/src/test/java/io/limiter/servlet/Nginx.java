package io.limiter.servlet;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A real nginx on this machine, in the foreground. It is the one that is installed, or one whose Debian package is unpacked
 * into the build folder: nothing is installed, and no service is started.
 */
final class Nginx implements AutoCloseable {
    private static final Path UNPACKED = Path.of("target", "nginx");

    private final Process process;
    private final BufferedReader log;

    private Nginx(Process process) {
        this.process = process;
        this.log = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts one and waits until it listens.
     *
     * @param http what stands in the block http
     */
    static Nginx start(Path directory, String http) throws IOException {
        Path config = directory.resolve("nginx.conf");
        StringBuilder text = new StringBuilder("daemon off;\nworker_processes 1;\nerror_log stderr notice;\npid ")
                .append(directory.resolve("nginx.pid"))
                .append(";\nevents {}\nhttp {\naccess_log off;\n");
        for (String kind : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
            text.append(kind)
                    .append("_temp_path ")
                    .append(directory.resolve(kind))
                    .append(";\n");
        }
        Files.writeString(config, text + http + "}\n");
        Nginx nginx = new Nginx(new ProcessBuilder(
                        executable().toString(), "-p", directory.toString(), "-e", "stderr", "-c", config.toString())
                .redirectErrorStream(true)
                .start());
        nginx.awaitListening();
        return nginx;
    }

    /** It opens its sockets before it starts its workers, and logs that. */
    private void awaitListening() throws IOException {
        List<String> told = new ArrayList<>();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            told.add(line);
            if (line.contains("start worker process ")) {
                return;
            }
        }
        throw new IllegalStateException("nginx did not start:\n" + String.join("\n", told));
    }

    /** What it calls itself. */
    static String version() throws IOException {
        return run(Path.of("."), executable().toString(), "-v");
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().join();
    }

    private static Path executable() throws IOException {
        List<Path> places = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            places.add(Path.of(folder, "nginx"));
        }
        places.add(Path.of("/usr/sbin/nginx"));
        places.add(UNPACKED.resolve("usr/sbin/nginx").toAbsolutePath());
        for (Path place : places) {
            if (Files.isExecutable(place)) {
                return place;
            }
        }
        unpack();
        return places.get(places.size() - 1);
    }

    private static void unpack() throws IOException {
        Files.createDirectories(UNPACKED);
        try {
            download();
        } catch (IllegalStateException noLists) {
            run(UNPACKED, "apt-get", "update");
            download();
        }
        try (Stream<Path> files = Files.list(UNPACKED)) {
            Path archive = files.filter(file -> file.toString().endsWith(".deb"))
                    .findFirst()
                    .orElseThrow();
            run(UNPACKED, "dpkg-deb", "-x", archive.getFileName().toString(), ".");
        }
    }

    private static void download() throws IOException {
        run(UNPACKED, "apt-get", "-o", "APT::Sandbox::User=root", "download", "nginx");
    }

    private static String run(Path directory, String... command) throws IOException {
        Process process;
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
            builder.environment().putAll(Map.of("LC_ALL", "C", "DEBIAN_FRONTEND", "noninteractive"));
            process = builder.start();
        } catch (IOException missing) {
            throw new IllegalStateException(
                    "there is no nginx, and no " + command[0] + " to get one; install nginx (Debian: apt-get install"
                            + " nginx)",
                    missing);
        }
        try (InputStream stream = process.getInputStream()) {
            String output = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            if (process.onExit().join().exitValue() != 0) {
                throw new IllegalStateException(
                        String.join(" ", command) + " failed; install nginx by hand:\n" + output);
            }
            return output;
        }
    }
}
