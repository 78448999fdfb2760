package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A server of gRPC on Netty, behind the interceptor. Its service {@code t.Votes} has the methods Vote (one message), Sum (many from
 * the client), Watch (many to it) and Chat (both). The metadata Test-Address and Test-User become peer and user.
 */
final class CallSite implements AutoCloseable {
    private static final Context.Key<String> USER = Context.key("test-user");

    private final Server server;
    final ManagedChannel channel;
    final RateLimitServerInterceptor interceptor;
    final Limiter limiter;
    /** How many messages have reached the limiter. */
    final AtomicInteger received = new AtomicInteger();

    /** How many clients have left, as the limiter knows. */
    final AtomicInteger left = new AtomicInteger();

    private final Queue<String> misuse = new ConcurrentLinkedQueue<>();

    /** What the service does with each message; what it returns is sent, null ends the call. */
    interface App {
        @Nullable
        String answer(String message, StreamObserver<String> observer) throws Exception;
    }

    /** With interceptors after that of the limiter. */
    CallSite(
            Limiter limiter,
            App app,
            UnaryOperator<RateLimitServerInterceptor.Builder> with,
            ServerInterceptor... after)
            throws IOException {
        this.limiter = limiter;
        this.interceptor =
                with.apply(RateLimitServerInterceptor.builder(limiter)).build();
        // On the threads of the transport: whatever blocks one of them blocks all calls.
        this.server = NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), InsecureServerCredentials.create())
                .directExecutor()
                .addService(ServerInterceptors.intercept(
                        ServerInterceptors.intercept(service(app), after), interceptor, new Disguise()))
                .build()
                .start();
        this.channel = connect(server.getPort());
    }

    static ManagedChannel connect(int port) {
        return Grpc.newChannelBuilderForAddress("127.0.0.1", port, InsecureChannelCredentials.create())
                .build();
    }

    static CallSite start(RateLimiter decides, String rules, App app) throws IOException {
        return start(decides, rules, app, builder -> builder);
    }

    static CallSite start(
            RateLimiter decides, String rules, App app, UnaryOperator<RateLimitServerInterceptor.Builder> with)
            throws IOException {
        return new CallSite(Limiter.of(config(rules), decides), app, with);
    }

    static LimiterConfig config(String rules) {
        return Configs.of(rules);
    }

    private static ServerServiceDefinition service(App app) {
        return ServerServiceDefinition.builder("t.Votes")
                .addMethod(
                        method("t.Votes/Vote", MethodType.UNARY),
                        ServerCalls.asyncUnaryCall(
                                (message, observer) -> new Answers(app, observer, 1).onNext(message)))
                .addMethod(
                        method("t.Votes/Watch", MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(
                                (message, observer) -> new Answers(app, observer, 2).onNext(message)))
                .addMethod(
                        method("t.Votes/Sum", MethodType.CLIENT_STREAMING),
                        ServerCalls.asyncClientStreamingCall(observer -> new Answers(app, observer, 0)))
                .addMethod(
                        method("t.Votes/Chat", MethodType.BIDI_STREAMING),
                        ServerCalls.asyncBidiStreamingCall(observer -> new Answers(app, observer, Integer.MAX_VALUE)))
                .build();
    }

    /** How many answers a call sends; with none it sends one at its end. */
    private static final class Answers implements StreamObserver<String> {
        private final App app;
        private final StreamObserver<String> to;
        private int left;
        private int messages;

        Answers(App app, StreamObserver<String> to, int most) {
            this.app = app;
            this.to = to;
            this.left = most;
        }

        @Override
        public void onNext(String message) {
            messages++;
            String answer;
            try {
                answer = app.answer(message, to);
            } catch (RuntimeException failed) {
                throw failed;
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
            if (answer == null || left == 0) {
                return;
            }
            // The application may answer on another thread.
            synchronized (to) {
                to.onNext(answer);
                if (left == 2) {
                    to.onNext(answer);
                }
                if (left <= 2) {
                    to.onCompleted();
                }
            }
        }

        @Override
        public void onError(Throwable failure) {
            left = -1;
        }

        @Override
        public void onCompleted() {
            synchronized (to) {
                if (left == 0) {
                    to.onNext(Integer.toString(messages));
                }
                if (left >= 0) {
                    to.onCompleted();
                }
            }
        }
    }

    static MethodDescriptor<String, String> method(String name, MethodType type) {
        return MethodDescriptor.<String, String>newBuilder()
                .setFullMethodName(name)
                .setType(type)
                .setRequestMarshaller(TEXT)
                .setResponseMarshaller(TEXT)
                .build();
    }

    private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try (stream) {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    /** Before the limiter: a call may say whose it is. */
    private final class Disguise implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String address = headers.get(GrpcRequest.key("Test-Address"));
            ServerCall.Listener<Q> listener = Contexts.interceptCall(
                    Context.current().withValue(USER, headers.get(GrpcRequest.key("Test-User"))),
                    new CheckedCall<>(call, address),
                    headers,
                    next);
            return new SimpleForwardingServerCallListener<>(listener) {
                @Override
                public void onMessage(Q message) {
                    received.incrementAndGet();
                    super.onMessage(message);
                }

                @Override
                public void onCancel() {
                    super.onCancel();
                    left.incrementAndGet();
                }
            };
        }
    }

    /** Notes whether two threads send at once, which no call of gRPC allows. */
    private final class CheckedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {
        private final AtomicReference<Thread> inside = new AtomicReference<>();
        private final @Nullable String address;

        CheckedCall(ServerCall<Q, A> call, @Nullable String address) {
            super(call);
            this.address = address;
        }

        private void check(Runnable step) {
            Thread before = inside.getAndSet(Thread.currentThread());
            if (before != null && before != Thread.currentThread()) {
                misuse.add(before + " and " + Thread.currentThread());
            }
            // So that another thread comes meanwhile.
            Thread.yield();
            step.run();
            inside.set(before);
        }

        @Override
        public void sendHeaders(Metadata headers) {
            check(() -> super.sendHeaders(headers));
        }

        @Override
        public void sendMessage(A message) {
            check(() -> super.sendMessage(message));
        }

        @Override
        public void close(Status status, Metadata trailers) {
            check(() -> super.close(status, trailers));
        }

        @Override
        public Attributes getAttributes() {
            return address == null
                    ? super.getAttributes()
                    : super.getAttributes().toBuilder()
                            .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, new InetSocketAddress(address, 1))
                            .build();
        }
    }

    /** Who calls, by the name in the metadata. */
    static RateLimitServerInterceptor.Builder withUsers(RateLimitServerInterceptor.Builder builder) {
        return builder.user(
                call -> {
                    String name = USER.get();
                    return name == null ? null : (Principal) () -> name;
                },
                (user, role) -> user.getName().equals("eve") && role.equals("ADMIN"));
    }

    /** One call of a client. */
    static final class Talk extends ClientCall.Listener<String> {
        private final ClientCall<String, String> call;
        final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        private final CompletableFuture<Ended> ended = new CompletableFuture<>();

        Talk(Channel channel, MethodDescriptor<String, String> method, CallOptions options, String... headers) {
            Metadata sent = new Metadata();
            for (String header : headers) {
                String[] parts = header.split(": ", 2);
                sent.put(GrpcRequest.key(parts[0]), parts[1]);
            }
            call = channel.newCall(method, options);
            call.start(this, sent);
            call.request(Integer.MAX_VALUE);
        }

        Talk say(String... messages) {
            for (String one : messages) {
                call.sendMessage(one);
            }
            return this;
        }

        Talk over() {
            call.halfClose();
            return this;
        }

        /** How it ends after the last message. */
        Status.Code code() {
            return over().end().code();
        }

        void cancel() {
            call.cancel("meant", null);
        }

        @Override
        public void onMessage(String message) {
            messages.add(message);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            ended.complete(new Ended(status, trailers, new ArrayList<>(messages)));
        }

        boolean isOver() {
            return ended.isDone();
        }

        Ended end() {
            try {
                return ended.get(60, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError("the call does not end", e);
            }
        }
    }

    /** How a call has ended. */
    record Ended(Status status, Metadata trailers, List<String> messages) {
        Status.Code code() {
            return status.getCode();
        }

        @Nullable
        String trailer(String name) {
            return trailers.get(GrpcRequest.key(name));
        }
    }

    int port() {
        return server.getPort();
    }

    /** How many permits of the only limit of a policy, with a global key, are left. */
    long left(String policy) {
        return Looks.left(limiter.rateLimiter(), limiter.policy(policy), PartitionKey.global());
    }

    /** How many of them are taken. */
    long taken(String policy, long most) {
        return most - left(policy);
    }

    private Talk talk(String method, MethodType type, String... headers) {
        return new Talk(channel, method("t.Votes/" + method, type), CallOptions.DEFAULT, headers);
    }

    Talk chat(String... headers) {
        return talk("Chat", MethodType.BIDI_STREAMING, headers);
    }

    Talk sum(String... headers) {
        return talk("Sum", MethodType.CLIENT_STREAMING, headers);
    }

    Talk watch(String... headers) {
        return talk("Watch", MethodType.SERVER_STREAMING, headers);
    }

    /** A call of one message. */
    static Talk unary(Channel channel, String method, String message, String... headers) {
        return new Talk(channel, method(method, MethodType.UNARY), CallOptions.DEFAULT, headers).say(message);
    }

    /** A call of Vote. */
    Talk vote(String message, String... headers) {
        return unary(channel, "t.Votes/Vote", message, headers).over();
    }

    /** The same by a client that waits so long. */
    Talk voteWithin(long millis) {
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
        return new Talk(channel, method("t.Votes/Vote", MethodType.UNARY), options)
                .say("v")
                .over();
    }

    Status.Code code(String... headers) {
        return vote("v", headers).end().code();
    }

    @Override
    public void close() throws InterruptedException {
        interceptor.close();
        channel.shutdownNow();
        server.shutdownNow().awaitTermination();
        assertEquals(List.of(), List.copyOf(misuse), "threads that send at once");
    }
}
