package io.limiter.internal.follow;

import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ReloadSettings;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What was in force last, in a file of a folder, for a start while Redis is unreachable: the revision, the directives, one a line; an
 * empty line, and the record of the text.
 */
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

    private static Path file(Path folder, String group) {
        return folder.resolve("limiter-" + group + ".published");
    }

    Kept read() {
        try {
            if (folder != null && Files.exists(file(folder, group))) {
                String all = new String(ReloadSettings.content(file(folder, group)), StandardCharsets.UTF_8);
                String[] parts = all.split("\n\n", 2);
                List<String> lines = parts[0].lines().toList();
                return new Kept(parts[1], lines.subList(1, lines.size()), Long.parseLong(lines.get(0)));
            }
        } catch (IOException | RuntimeException unreadable) {
            warn("what is kept in {} can't be read: {}", unreadable);
        }
        return new Kept("", List.of(), 0);
    }

    void warn(String what, Exception why) {
        LOG.warn("RL-512 " + what, folder, String.valueOf(why));
    }

    /** Replaces what is kept: as a whole, or not at all. */
    void keep(@Nullable Directive text, Directives directives, long revision) {
        if (folder == null) {
            return;
        }
        try {
            Files.createDirectories(folder);
            Path file = file(folder, group);
            Path fresh = file.resolveSibling(file.getFileName() + ".new");
            String lines = directives.all().stream()
                    .map(one -> "\n" + one.record())
                    .collect(Collectors.joining("", Long.toString(revision), "\n\n"));
            Files.writeString(fresh, lines + (text == null ? "" : text.record()));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException unwritable) {
            warn(
                    "what is published can't be kept in {}, so a start without Redis has the own configuration: {}",
                    unwritable);
        }
    }
}
