package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ReloadSettings;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import io.limiter.internal.control.Published;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What was in force last, in a folder, for a start while Redis is unreachable. */
record LastGood(@Nullable Path folder, String group) {
    private static final Logger LOG = DiagnosticLog.of(LastGood.class);

    /**
     * What is kept.
     *
     * @param text its record; empty for none
     * @param directives their records
     * @param revision what was removed up to it must not come again; 0 if that is not known
     */
    record Kept(String text, List<String> directives, long revision) {}

    Kept read() {
        String text = content(".text");
        List<String> lines = content(".directives").lines().toList();
        return lines.isEmpty() || !lines.get(0).matches("[0-9]{1,16}")
                ? new Kept(text, lines, 0)
                : new Kept(text, lines.subList(1, lines.size()), Long.parseLong(lines.get(0)));
    }

    private String content(String end) {
        try {
            return folder == null || !Files.exists(file(folder, end))
                    ? ""
                    : new String(ReloadSettings.content(file(folder, end)), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            LOG.warn("RL-512 the folder {} can't be read: {}", folder, unreadable.toString());
            return "";
        }
    }

    private Path file(Path place, String end) {
        return place.resolve("limiter-" + group + end);
    }

    /** Replaces what is kept. */
    void keep(Layer layer, Directives directives, long revision) {
        Published text = layer.text();
        if (folder != null) {
            try {
                Files.createDirectories(folder);
                if (text != null) {
                    write(file(folder, ".text"), text.record());
                }
                write(
                        file(folder, ".directives"),
                        directives.all().stream()
                                .map(Directive::record)
                                .collect(Collectors.joining("\n", revision + "\n", "")));
            } catch (IOException unwritable) {
                LOG.warn(
                        "RL-512 what is published can't be kept in {}, so a start without Redis has the own"
                                + " configuration: {}",
                        folder,
                        unwritable.toString());
            }
        }
    }

    /** As a whole, or not at all. */
    private static void write(Path file, String text) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(fresh, text);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
