package io.limiter.recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.LimitedTools;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** docs/recipes/mcp.md: tools with different costs, and what a client of the protocol sees. */
class McpTest {
    private final ManualTime time = new ManualTime();
    private final List<McpSyncClient> clients = new ArrayList<>();
    private final CountDownLatch begun = new CountDownLatch(2);
    private final CountDownLatch end = new CountDownLatch(1);
    private Limiter limiter;
    private McpSyncServer server;
    private Site site;

    @BeforeEach
    void start() throws Exception {
        limiter = Recipe.limiter("mcp", time);
        LimitedTools tools = new LimitedTools(limiter, Map.of("report", 10));
        HttpServletStreamableServerTransportProvider transport = HttpServletStreamableServerTransportProvider.builder()
                .mcpEndpoint("/mcp")
                .contextExtractor(LimitedTools::context)
                .build();
        server = McpServer.sync(transport)
                .tools(
                        tools.limited(tool("search", () -> "found")),
                        tools.limited(tool("report", () -> "the report")),
                        tools.limited(tool("slow", () -> {
                            begun.countDown();
                            end.await();
                            return "at last";
                        })))
                .build();
        site = Site.of(transport);
    }

    private interface Work {
        String text() throws Exception;
    }

    private static SyncToolSpecification tool(String name, Work work) {
        return SyncToolSpecification.builder()
                .tool(Tool.builder(name, Map.of("type", "object")).build())
                .callHandler((exchange, request) -> {
                    try {
                        return CallToolResult.builder()
                                .addTextContent(work.text())
                                .build();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                })
                .build();
    }

    private McpSyncClient client(String user) {
        McpSyncClient client = McpClient.sync(HttpClientStreamableHttpTransport.builder(site.address("http"))
                        .endpoint("/mcp")
                        .openConnectionOnStartup(false)
                        .httpRequestCustomizer((request, method, uri, body, context) -> request.header(Site.USER, user))
                        .build())
                .requestTimeout(Duration.ofSeconds(60))
                .build();
        clients.add(client);
        client.initialize();
        return client;
    }

    private static CallToolResult call(McpSyncClient client, String tool) {
        return client.callTool(new CallToolRequest(tool, Map.of()));
    }

    private static String text(CallToolResult result) {
        return ((TextContent) result.content().get(0)).text();
    }

    @AfterEach
    void stop() throws Exception {
        end.countDown();
        clients.forEach(McpSyncClient::close);
        server.close();
        site.close();
        limiter.close();
    }

    @Test
    void toolsHaveDifferentCosts() {
        McpSyncClient ann = client("ann");
        assertEquals("the report", text(call(ann, "report")));
        assertEquals("found", text(call(ann, "search")));
        assertEquals("found", text(call(ann, "search")));
        assertEquals(List.of(8L), Recipe.left(limiter, "tools", "ann"));
        CallToolResult denied = call(ann, "report");
        assertTrue(denied.isError(), "a result, which the model reads, and no error of the protocol");
        assertEquals("Rate limit exceeded. Try again in 60 seconds.", text(denied));
        assertFalse(
                call(client("ann"), "search").isError(), "the cheap one is allowed; another session is the same user");
        assertEquals(List.of(7L), Recipe.left(limiter, "tools", "ann"));
        assertEquals("the report", text(call(client("bob"), "report")));
        time.advance(Duration.ofSeconds(60));
        assertEquals("the report", text(call(ann, "report")));
    }

    @Test
    void twoAtOnce() throws Exception {
        McpSyncClient ann = client("ann");
        Supplier<CallToolResult> slow = () -> call(ann, "slow");
        List<CompletableFuture<CallToolResult>> calls =
                List.of(CompletableFuture.supplyAsync(slow), CompletableFuture.supplyAsync(slow));
        begun.await();
        CallToolResult denied = call(ann, "search");
        assertTrue(denied.isError());
        assertEquals("Rate limit exceeded. Try again when another call of yours has ended.", text(denied));
        end.countDown();
        for (CompletableFuture<CallToolResult> call : calls) {
            assertEquals("at last", text(call.get()));
        }
        assertEquals("found", text(call(ann, "search")));
        assertEquals(List.of(17L), Recipe.left(limiter, "tools", "ann"), "the denied call took nothing");
    }
}
