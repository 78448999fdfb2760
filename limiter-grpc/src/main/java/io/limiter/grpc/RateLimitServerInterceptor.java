package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.limiter.application.Limiter;
import io.limiter.http.internal.Door;
import io.limiter.http.internal.DoorBuilder;
import java.security.Principal;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Limits the calls of a gRPC server by the rules of its configuration, as {@code io.limiter.servlet.RateLimitFilter} limits requests.
 * Thread-safe; never blocks a thread. Give it to the server, or to one of its services:
 *
 * <pre>{@code
 * RateLimitServerInterceptor limits = RateLimitServerInterceptor.builder(limiter).build();
 * Server server = ServerBuilder.forPort(50051).addService(service).intercept(limits).build();
 * }</pre>
 *
 * <p>A call is a POST request for {@code /package.Service/Method}, and its metadata are the headers. A rule with {@code methods =
 * ext:MESSAGE} counts each message of a client instead. Classes that rules name, and rules in code, get the {@link GrpcCall}. Denied
 * calls end with {@code RESOURCE_EXHAUSTED}. What a call takes ends, and is settled or refunded, when the service closes the call or
 * the client leaves.
 */
public final class RateLimitServerInterceptor extends Door<CallRules> implements ServerInterceptor {
    private final @Nullable ServerInterceptor follower;
    private final CallWay.Terms terms;

    private RateLimitServerInterceptor(Builder builder) {
        super(null);
        DoorBuilder.Choice<GrpcCall, GrpcRejectionHandler> choice = DoorBuilder.Choice.of(builder);
        Function<GrpcCall, GrpcRequest> users = builder.users;
        boolean isBeside = builder.isBeside;
        begin(builder.limiter, config -> CallRules.of(builder.limiter, config, choice, users, isBeside));
        this.follower = builder.follower;
        this.terms = new CallWay.Terms(this::rules, places(), builder.executor, builder.context);
    }

    /** A builder of an interceptor with the configured rules of this limiter, and others. */
    public static Builder builder(Limiter limiter) {
        return new Builder(Objects.requireNonNull(limiter, "limiter"));
    }

    /** Builds an interceptor. Not thread-safe. */
    public static final class Builder extends DoorBuilder<GrpcCall, GrpcRejectionHandler, Builder> {
        private final Limiter limiter;
        /** Its threads end when there is nothing to do. */
        private Executor executor = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "limiter-grpc");
            thread.setDaemon(true);
            return thread;
        });

        private UnaryOperator<Runnable> context = task -> task;
        private @Nullable Function<GrpcCall, GrpcRequest> users;
        private boolean isBeside;
        private @Nullable ServerInterceptor follower;

        private Builder(Limiter limiter) {
            this.limiter = limiter;
        }

        /**
         * Who calls, for rules by user and role; the function returns null for nobody. It is asked when a call arrives: the
         * interceptor that authenticates must be before this one.
         */
        public Builder user(Function<GrpcCall, @Nullable Principal> user, BiPredicate<Principal, String> hasRole) {
            users = call -> new GrpcRequest(call, GrpcRequest.POST, user.apply(call), hasRole);
            return this;
        }

        /**
         * Continues calls after a decision that was not known at once, such as one of Redis: give the executor of the server.
         * Without one the interceptor has threads of its own.
         */
        public Builder executor(Executor threads) {
            executor = Objects.requireNonNull(threads, "threads");
            return this;
        }

        /**
         * Wraps a task, on the thread of a call, so that the executor runs it with what belongs to that thread, such as an MDC.
         * The {@link Context} of gRPC needs no wrapper.
         */
        public Builder context(UnaryOperator<Runnable> wrapper) {
            context = Objects.requireNonNull(wrapper, "wrapper");
            return this;
        }

        /** Leaves out the rules that calls can't meet, with a warning: the application has another door, for which they may be. */
        public Builder besideOtherDoors() {
            isBeside = true;
            return this;
        }

        /** Calls it between this interceptor and the rest, because what a call throws after it was held is not seen by those before. */
        Builder followedBy(ServerInterceptor inner) {
            follower = inner;
            return this;
        }

        /**
         * The interceptor.
         *
         * @throws IllegalArgumentException if it would have no rule and uses all that are configured, a rule needs what calls
         *     do not have (RL-194), or a class can't be made
         */
        public RateLimitServerInterceptor build() {
            return new RateLimitServerInterceptor(this);
        }
    }

    @Override
    public <Q, A> Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        CallRules now = rules();
        now.calls().noteRequest();
        return new CallWay<>(terms, now, call, headers)
                .begin(follower == null ? next : (admitted, sent) -> follower.interceptCall(admitted, sent, next));
    }
}
