package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.QueryCostLimit;
import graphql.ExecutionInput;
import graphql.ExecutionResult;
import graphql.GraphQL;
import graphql.schema.idl.RuntimeWiring;
import graphql.schema.idl.SchemaGenerator;
import graphql.schema.idl.SchemaParser;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** docs/recipes/graphql.md: an operation costs what it asks for. */
class GraphQlTest {
    private static final String SCHEMA = """
            type Query { shops(first: Int): [Shop] }
            type Shop { name: String, orders(first: Int): [Order] }
            type Order { total: Int, shop: Shop }
            """;

    private final ManualTime time = new ManualTime();
    private final AtomicInteger fetched = new AtomicInteger();
    private Limiter limiter;
    private GraphQL graphQl;

    @BeforeEach
    void start() throws IOException {
        limiter = Recipe.limiter("graphql", time);
        RuntimeWiring wiring = RuntimeWiring.newRuntimeWiring()
                .type(
                        "Query",
                        query -> query.dataFetcher("shops", call -> {
                            fetched.incrementAndGet();
                            return List.of(Map.of("name", "corner", "orders", List.of()));
                        }))
                .build();
        graphQl = GraphQL.newGraphQL(
                        new SchemaGenerator().makeExecutableSchema(new SchemaParser().parse(SCHEMA), wiring))
                .instrumentation(new QueryCostLimit(limiter))
                .build();
    }

    @AfterEach
    void end() {
        limiter.close();
    }

    private ExecutionResult ask(String customer, String query) {
        return graphQl.execute(ExecutionInput.newExecutionInput(query)
                .graphQLContext(Map.of("customer", customer))
                .variables(Map.of("n", 400)));
    }

    @Test
    void anOperationCostsItsFields() {
        assertTrue(ask("ann", "{ shops { name } }").getErrors().isEmpty());
        assertEquals(List.of(998L), Recipe.left(limiter, "graphql", "ann"));
        ask("ann", "{ shops(first: 10) { name orders(first: 20) { total } } }");
        assertEquals(List.of(998 - (1 + 10 * (1L + 1 + 20))), Recipe.left(limiter, "graphql", "ann"));
        ask("bob", "{ a: shops { ...Short } b: shops { ...Short } } fragment Short on Shop { name }");
        assertEquals(List.of(996L), Recipe.left(limiter, "graphql", "bob"), "aliases and fragments count");
        ask("eve", "{ shops(first: -400) { name } }");
        assertEquals(List.of(998L), Recipe.left(limiter, "graphql", "eve"), "never less than what it asks for once");
        ask("eve", "query Q($n: Int) { shops(first: $n) { name } }");
        assertEquals(List.of(998 - 401L), Recipe.left(limiter, "graphql", "eve"), "variables count");
    }

    @Test
    void aDeniedOperationFetchesNothing() {
        String large = "{ shops(first: 600) { name } }";
        assertTrue(ask("ann", large).getErrors().isEmpty());
        ExecutionResult denied = ask("ann", large);
        assertEquals(1, fetched.get());
        assertNull(denied.getData());
        assertEquals("too many queries", denied.getErrors().get(0).getMessage());
        // 202 more than the 399 that are left; 1000 come back in a minute.
        assertEquals(
                Map.of("cost", 601L, "retryAfterSeconds", 13L),
                denied.getErrors().get(0).getExtensions());
        time.advance(Duration.ofSeconds(13));
        assertTrue(ask("ann", large).getErrors().isEmpty());
    }

    @Test
    void whatIsTooLargeIsDeniedForEver() {
        ExecutionResult denied =
                ask("ann", "{ shops(first: 2000000000) { name orders(first: 2000000000) { total } } }");
        assertEquals("the query is too large", denied.getErrors().get(0).getMessage());
        assertEquals(List.of(1000L), Recipe.left(limiter, "graphql", "ann"));
        assertEquals(0, fetched.get());
    }

    @Test
    void fragmentsThatMultiplyAreCountedAndNotExecuted() {
        StringBuilder query = new StringBuilder("{ shops { ...F9 } } fragment F0 on Shop { name }");
        for (int i = 1; i <= 9; i++) {
            String below = "orders { shop { ...F" + (i - 1) + " } }";
            query.append(" fragment F" + i + " on Shop { a: " + below + " b: " + below + " }");
        }
        ExecutionResult denied = ask("ann", query.toString());
        // Each level has twice as many orders, shops and names as the one above.
        assertEquals(
                1L + 2 * 2 * 511 + 512,
                denied.getErrors().get(0).getExtensions().get("cost"));
        assertEquals(0, fetched.get());
    }
}
