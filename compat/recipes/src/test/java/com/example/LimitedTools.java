package com.example;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.InFlight;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

public class LimitedTools {
    private final Limiter limiter;
    private final Map<String, Integer> costs;

    /** Tools that are not among the costs cost 1. */
    public LimitedTools(Limiter limiter, Map<String, Integer> costs) {
        this.limiter = limiter;
        this.costs = costs;
    }

    /** For contextExtractor(...) of the transport: the user that the server has authenticated. */
    public static McpTransportContext context(HttpServletRequest request) {
        String user = request.getRemoteUser();
        return user == null ? McpTransportContext.EMPTY : McpTransportContext.create(Map.of("user", user));
    }

    public SyncToolSpecification limited(SyncToolSpecification tool) {
        return new SyncToolSpecification(tool.tool(), (exchange, request) -> {
            Object user = exchange.transportContext().get("user");
            PartitionKey key = PartitionKey.of(user == null ? "anonymous" : user.toString());
            int cost = costs.getOrDefault(request.name(), 1);
            try (InFlight call = limiter.rateLimiter()
                    .enter(List.of(
                            new Charge(limiter.policy("tools"), key, cost),
                            new Charge(limiter.policy("tools-at-once"), key, 1)))) {
                return call.allowed() ? tool.callHandler().apply(exchange, request) : denied(call.decision());
            }
        });
    }

    private static CallToolResult denied(Decision decision) {
        OptionalLong seconds = decision.retryAfterSeconds();
        String when = decision.isRetryUnknown()
                ? "Try again when another call of yours has ended."
                : seconds.isPresent()
                        ? "Try again in " + seconds.getAsLong() + " seconds."
                        : "This call costs more than is ever allowed.";
        return CallToolResult.builder()
                .isError(true)
                .addTextContent("Rate limit exceeded. " + when)
                .build();
    }
}
