package com.example;

import graphql.ErrorType;
import graphql.ExecutionResult;
import graphql.GraphQLError;
import graphql.execution.AbortExecutionException;
import graphql.execution.ExecutionContext;
import graphql.execution.instrumentation.InstrumentationContext;
import graphql.execution.instrumentation.InstrumentationState;
import graphql.execution.instrumentation.SimplePerformantInstrumentation;
import graphql.execution.instrumentation.parameters.InstrumentationExecuteOperationParameters;
import graphql.normalized.ExecutableNormalizedField;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

public class QueryCostLimit extends SimplePerformantInstrumentation {
    private static final long MOST = 1_000_000_000;

    private final Limiter limiter;

    public QueryCostLimit(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public InstrumentationContext<ExecutionResult> beginExecuteOperation(
            InstrumentationExecuteOperationParameters parameters, InstrumentationState state) {
        ExecutionContext operation = parameters.getExecutionContext();
        long cost = sum(operation.getNormalizedQueryTree().get().getTopLevelFields());
        String customer = operation.getGraphQLContext().getOrDefault("customer", "anonymous");
        Decision decision = limiter.tryAcquire("graphql", PartitionKey.of(customer), cost);
        if (!decision.allowed()) {
            throw new AbortExecutionException(List.of(denied(cost, decision)));
        }
        return super.beginExecuteOperation(parameters, state);
    }

    /** A field costs 1, and what is below it; of a list, as many times as the query asks for. */
    private static long cost(ExecutableNormalizedField field) {
        long times = field.getResolvedArguments().get("first") instanceof Integer first ? Math.max(1, first) : 1;
        return Math.min(MOST, 1 + times * sum(field.getChildren()));
    }

    private static long sum(List<ExecutableNormalizedField> fields) {
        return Math.min(MOST, fields.stream().mapToLong(QueryCostLimit::cost).sum());
    }

    private static GraphQLError denied(long cost, Decision decision) {
        OptionalLong seconds = decision.retryAfterSeconds();
        return seconds.isPresent()
                ? error("too many queries", Map.of("cost", cost, "retryAfterSeconds", seconds.getAsLong()))
                : error("the query is too large", Map.of("cost", cost));
    }

    private static GraphQLError error(String message, Map<String, Object> extensions) {
        return GraphQLError.newError()
                .errorType(ErrorType.ExecutionAborted)
                .message(message)
                .extensions(extensions)
                .build();
    }
}
