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
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What was in force last, in a folder, for a start while Redis is unreachable. */
record LastGood(@Nullable Path folder, String group) {
    private static final Logger LOG = DiagnosticLog.of(LastGood.class);

    /** The records that are kept: a text, then directives. */
    List<String> read() {
        List<String> records = new ArrayList<>();
        if (folder != null) {
            try {
                Path text = file(folder, ".text");
                Path directives = file(folder, ".directives");
                if (Files.exists(text)) {
                    records.add(new String(ReloadSettings.content(text), StandardCharsets.UTF_8));
                }
                if (Files.exists(directives)) {
                    records.addAll(new String(ReloadSettings.content(directives), StandardCharsets.UTF_8)
                            .lines()
                            .toList());
                }
            } catch (IOException unreadable) {
                LOG.warn("RL-512 the folder {} can't be read: {}", folder, unreadable.toString());
            }
        }
        return records;
    }

    private Path file(Path place, String end) {
        return place.resolve("limiter-" + group + end);
    }

    /** Replaces what is kept. */
    void keep(Layer layer, Directives directives) {
        Published text = layer.text();
        if (folder != null) {
            try {
                Files.createDirectories(folder);
                if (text != null) {
                    write(file(folder, ".text"), text.record());
                }
                write(
                        file(folder, ".directives"),
                        directives.all().stream().map(Directive::record).collect(Collectors.joining("\n")));
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
