package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.config.LimiterConfig;
import io.limiter.spring.App;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Characters that nobody sees, in each way in which Spring Boot reads a property. */
class UnseenCharactersOfBootTest {
    private static final String DENY = "limiter.deny.addresses";

    @TempDir
    Path folder;

    private String mistake(String yaml, Map<String, String> environment) {
        return App.message(() -> BootApp.config(folder, yaml, environment));
    }

    private static int denied(LimiterConfig config) {
        return config.settings().callers().denied().size();
    }

    /** Boot reads .properties as ISO-8859-1, so a mark of three bytes is three letters before the first key, which it ignores. */
    @Test
    void aMarkBeforeTheFirstLineOfProperties() throws IOException {
        Files.writeString(folder.resolve("application.properties"), "\uFEFF" + DENY + "=127.0.0.1\n");
        assertEquals(1, denied(BootApp.config(folder, "spring.main.banner-mode: off", Map.of())));
    }

    @Test
    void inNamesTheyAreIgnored() {
        for (String yaml : new String[] {
            "limiter\u00a0:\n  deny.addresses: 127.0.0.1\n",
            "limiter\u200b.deny.addresses: 127.0.0.1\n",
            "limiter.deny.add\u200bresses: 127.0.0.1\n"
        }) {
            assertEquals(1, denied(BootApp.config(folder, yaml, Map.of())), yaml);
        }
        assertEquals(1, denied(BootApp.config(folder, "", Map.of("\uFEFFLIMITER_DENY_ADDRESSES", "127.0.0.1"))));
        assertEquals(1, denied(BootApp.config(folder, "", Map.of(), "--\u00a0" + DENY + "=127.0.0.1")));
    }

    @Test
    void valuesOfProperties() throws IOException {
        for (String path : new String[] {"/vote\u00a0", "/vote\u200b", "/caf\u00e9"}) {
            Files.writeString(
                    folder.resolve("application.properties"),
                    "limiter.rules.a.limits=3/1h\nlimiter.rules.a.path=" + path);
            String mistake = mistake("spring.main.banner-mode: off", Map.of());
            assertTrue(mistake.contains("RL-103 limiter.rules.a.path"), mistake);
        }
        Files.writeString(
                folder.resolve("application.properties"),
                "limiter.rules.a.limits=3/1h\nlimiter.rules.a.path=/caf\\u00e9");
        LimiterConfig config = BootApp.config(folder, "spring.main.banner-mode: off", Map.of());
        assertEquals(
                "/caf\u00e9", config.settings().rules().get(0).scope().paths().get(0));
    }

    @Test
    void valuesOfYamlAndVariables() {
        for (String yaml : new String[] {
            "limiter.deny.addresses: 127.0.0.1\u00a0\n", "limiter.deny.addresses: [127.0.0.2, \"127.0.0.1\u200b\"]\n"
        }) {
            String mistake = mistake(yaml, Map.of());
            assertTrue(mistake.contains("RL-103") && mistake.contains("\\u"), mistake);
        }
        String mistake = mistake("", Map.of("LIMITER_DENY_ADDRESSES", "127.0.0.1\u00a0"));
        assertTrue(mistake.contains("RL-103") && mistake.contains("LIMITER_DENY_ADDRESSES"), mistake);
    }

    @Test
    void othersAreNotAsked() {
        BootApp.config(folder, "other\u00a0: 1\nmy.text: \"a\u00a0b\"\n", Map.of("\uFEFFPATH", "/bin"));
    }
}
