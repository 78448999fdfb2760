package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Pages;
import io.limiter.spring.weaving.Construct.Cell;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of docs/spring/where-it-works.md has the places of {@link WeavingTableTest} that are not limited everywhere. */
class TablePageTest {
    private static final String HEAD = "| the annotation is on | Spring proxy | AspectJ |";

    @Test
    void everyPlaceThatIsNotLimitedEverywhereStandsOnThePageAndNoOther() {
        List<String> page = Pages.text("spring").lines().toList();
        List<String> rows = page.subList(page.indexOf(HEAD) + 2, page.size()).stream()
                .takeWhile(line -> line.startsWith("|"))
                .toList();
        List<String> expected = new ArrayList<>();
        for (Construct construct : Construct.values()) {
            if (construct.proxied != Cell.YES || construct.woven != Cell.YES) {
                expected.add(
                        "| " + construct.text + " | " + construct.proxied.text + " | " + construct.woven.text + " |");
            }
        }
        // compat/kotlin has the test of it.
        expected.add("| a `suspend fun` of Kotlin | yes | no: RL-131 |");
        assertEquals(String.join("\n", expected), String.join("\n", rows));
    }
}
