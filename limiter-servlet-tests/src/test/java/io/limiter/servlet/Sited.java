package io.limiter.servlet;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A test with sites, closed after it. */
abstract class Sited {
    @TempDir
    Path directory;

    private final List<RuleSite> sites = new ArrayList<>();

    final RuleSite site(RuleSite.Container container, String... rules) {
        RuleSite site = new RuleSite(container, directory.resolve("" + sites.size()), String.join("\n", rules));
        sites.add(site);
        return site;
    }

    @AfterEach
    final void close() {
        sites.forEach(RuleSite::close);
    }
}
