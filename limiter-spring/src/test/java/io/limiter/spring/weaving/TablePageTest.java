package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Pages;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/spring/where-it-works.md are those that {@link WeavingTableTest} and {@link BeansOfOthersTest} go
 * through, row by row.
 */
class TablePageTest {
    private static final String HEAD =
            "| the annotation is on | Spring proxy | AspectJ, load time | AspectJ, compile time |";

    private static final String HEAD_OF_MAKERS =
            "| the object is made by | Spring 6.2 | Spring 7 | in an application with woven classes |";

    @Test
    void everyMakerOfBeansStandsOnThePageAndNoOther() {
        List<String> expected = Arrays.stream(BeanMaker.values())
                .map(maker -> "| " + maker.text + " | 2 of 5 | 2 of 5 | 2 of 5 |")
                .toList();
        assertEquals(expected, rows(HEAD_OF_MAKERS));
    }

    private static List<String> rows(String head) {
        List<String> page = Pages.text("spring").lines().toList();
        int first = page.indexOf(head) + 2;
        List<String> rows = new ArrayList<>();
        for (int i = first; page.get(i).startsWith("|"); i++) {
            rows.add(page.get(i));
        }
        return rows;
    }

    @Test
    void everyRowStandsOnThePageAndNoOther() {
        List<String> rows = rows(HEAD);
        List<String> expected = new ArrayList<>();
        for (Construct construct : Construct.values()) {
            expected.add("| " + construct.text + " | " + construct.proxied.text + " | " + construct.woven.text + " | "
                    + construct.woven.text + " |");
        }
        // compat/kotlin has the test of it.
        expected.add("| a `suspend fun` of Kotlin | yes | no: RL-131 | no: RL-131 |");
        assertEquals(String.join("\n", expected), String.join("\n", rows));
    }
}
