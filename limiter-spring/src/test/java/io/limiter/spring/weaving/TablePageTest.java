package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Pages;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of docs/spring/where-it-works.md is the one that {@link WeavingTableTest} goes through, row by row. */
class TablePageTest {
    private static final String HEAD =
            "| the annotation is on | Spring proxy | AspectJ, load time | AspectJ, compile time |";

    @Test
    void everyRowStandsOnThePageAndNoOther() {
        List<String> page = Pages.text("spring").lines().toList();
        int first = page.indexOf(HEAD) + 2;
        List<String> rows = new ArrayList<>();
        for (int i = first; page.get(i).startsWith("|"); i++) {
            rows.add(page.get(i));
        }
        List<String> expected = new ArrayList<>();
        for (Construct construct : Construct.values()) {
            expected.add("| " + construct.text + " | " + construct.proxied.text + " | " + construct.woven.text + " | "
                    + construct.woven.text + " |");
        }
        assertEquals(String.join("\n", expected), String.join("\n", rows));
    }
}
