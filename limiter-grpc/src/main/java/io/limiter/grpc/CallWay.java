package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.limiter.http.internal.Admission;
import io.limiter.http.internal.Admission.Answer;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.RequestLedger;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The way of a call, and of its messages, through an interceptor to the service. What arrives while a decision is awaited is kept, and
 * delivered afterwards, in its order and one at a time; no thread waits. gRPC sends no more messages than the service has asked for,
 * so few are kept. Thread-safe.
 *
 * @param <Q> the messages of the client
 * @param <A> those of the service
 */
final class CallWay<Q, A> extends Listener<Q> {
    private final Terms terms;
    private final CallRules rules;
    private final GrpcCall call;
    private final GrpcRequest request;
    private final RequestLedger ledger;
    private final AdmittedCall<Q, A> admitted;
    /** What has arrived. Each event tells whether the next one may follow. Guarded by itself. */
    private final Queue<BooleanSupplier> events = new ArrayDeque<>();
    /** Whether somebody delivers, or a decision is awaited; guarded by the events. */
    private boolean isBusy;

    private Listener<Q> service = new Listener<>() {};
    private volatile @Nullable Admission awaited;
    /** Whether the transport has reported the end of the call. */
    private volatile boolean isEnded;

    /**
     * What all calls of an interceptor have in common.
     *
     * @param inForce returns the rules; a call has those of its beginning, and each message those of its own
     * @param executor of what follows a decision that was not known at once
     * @param wrapper of its tasks, called on the thread of the call
     */
    record Terms(Supplier<CallRules> inForce, HeldPlaces places, Executor executor, UnaryOperator<Runnable> wrapper) {}

    CallWay(Terms terms, CallRules rules, ServerCall<Q, A> received, Metadata headers) {
        this.terms = terms;
        this.rules = rules;
        this.call = GrpcCall.of(received, headers);
        this.request = rules.users().request(call);
        this.ledger = RequestLedger.of(request, rules.calls().limiter(), RequestLedger.class, RequestLedger::new);
        this.admitted = new AdmittedCall<>(received, call, ledger);
    }

    /** Begins the service if the call is admitted; closes or holds any other. */
    Listener<Q> begin(ServerCallHandler<Q, A> next) {
        Context context = call.context();
        Admission admission = new Admission(rules.calls(), terms.places, request, ledger);
        boolean isKnown = decide(admission, answer -> {
            Answer used = admission.use(answer);
            try {
                if (used != null && used.isAdmitted()) {
                    if (used.decision() != null) {
                        rules.answers().note(used.decision(), call);
                    }
                    service = Contexts.interceptCall(context, admitted, call.headers(), next);
                } else if (used != null) {
                    answer(used);
                }
            } catch (Throwable failed) {
                admission.fail(answer);
                throw failed;
            }
            admission.release();
        });
        boolean hasEnd;
        synchronized (ledger) {
            hasEnd = ledger.hasEnd();
        }
        // An open stream meets the rules for messages of a later configuration too.
        boolean isStream = !admitted.getMethodDescriptor().getType().clientSendsOneMessage();
        return isKnown && !hasEnd && !isStream && !rules.countMessages() ? service : this;
    }

    /** Closes the call, instead of the service. */
    private void answer(Answer answer) {
        if (answer.failure() != null) {
            throw new IllegalStateException("there is no decision about a call", answer.failure());
        } else if (answer.refused() > 0) {
            GrpcAnswers.refuse(answer.refused(), admitted.cut());
        } else {
            rules.answers().deny(Objects.requireNonNull(answer.decision()), call, admitted.cut());
        }
    }

    /** Decides something. True if it was known now. If not, what arrives is kept, and delivered after it. */
    private boolean decide(Admission admission, Consumer<Answer> apply) {
        CompletableFuture<Answer> begun = admission.begin();
        Answer known = begun.getNow(null);
        if (known != null) {
            apply.accept(known);
            return true;
        }
        synchronized (events) {
            isBusy = true;
        }
        awaited = admission;
        if (isEnded) {
            admission.giveUp();
        }
        Runnable rest = Context.current().wrap(terms.wrapper.apply(() -> {
            try {
                deliver(() -> {
                    apply.accept(Objects.requireNonNull(begun.getNow(null)));
                    return true;
                });
            } catch (Throwable failed) {
                close(failed);
                throw failed;
            }
        }));
        begun.thenRun(() -> {
            try {
                terms.executor.execute(rest);
            } catch (RejectedExecutionException stopped) {
                rest.run();
            }
        });
        return false;
    }

    /** As gRPC does on its own threads. */
    private void close(Throwable failed) {
        try {
            admitted.close(Status.UNKNOWN.withDescription("Application error processing RPC"), new Metadata());
        } catch (IllegalStateException closed) {
            failed.addSuppressed(closed);
        }
    }

    private void add(BooleanSupplier event) {
        synchronized (events) {
            events.add(event);
            if (isBusy) {
                return;
            }
            isBusy = true;
        }
        deliver(() -> true);
    }

    private void add(Consumer<Listener<Q>> event) {
        add(() -> {
            event.accept(service);
            return true;
        });
    }

    /** Delivers an event and what has arrived after it, up to one that awaits a decision. Only for whoever has made it busy. */
    private void deliver(BooleanSupplier first) {
        boolean isDone = false;
        try {
            for (BooleanSupplier event = first; event != null && event.getAsBoolean(); ) {
                synchronized (events) {
                    event = events.poll();
                    isBusy = event != null;
                }
            }
            isDone = true;
        } catch (StatusRuntimeException answer) {
            admitted.end(answer.getStatus(), new Metadata());
            throw answer;
        } finally {
            if (!isDone) {
                synchronized (events) {
                    isBusy = false;
                }
            }
        }
    }

    @Override
    public void onMessage(Q message) {
        CallRules now = terms.inForce.get();
        if (!now.countMessages()) {
            add(to -> to.onMessage(message));
            return;
        }
        now.messages().noteRequest();
        add(() -> {
            if (isEnded || admitted.isOver()) {
                return true;
            }
            // Each message is charged for itself, so it has a ledger of its own, which nothing ends.
            RequestLedger own = new RequestLedger(now.messages().limiter(), null);
            Admission admission = new Admission(now.messages(), terms.places, request.ofMessage(), own);
            return decide(admission, answer -> {
                try {
                    Answer used = admission.use(answer);
                    if (used != null && used.isAdmitted()) {
                        service.onMessage(message);
                    } else if (used != null && !admitted.isOver()) {
                        deny(used);
                    }
                } finally {
                    admission.release();
                }
            });
        });
    }

    /** The end of a call that has begun, because a message is denied. The service sees that it is cancelled. */
    private void deny(Answer answer) {
        admitted.end(null, new Metadata());
        answer(answer);
        Listener<Q> told = service;
        service = new Listener<>() {};
        told.onCancel();
    }

    @Override
    public void onHalfClose() {
        add(Listener::onHalfClose);
    }

    @Override
    public void onReady() {
        add(Listener::onReady);
    }

    @Override
    public void onComplete() {
        end(Listener::onComplete);
    }

    @Override
    public void onCancel() {
        end(Listener::onCancel);
    }

    private void end(Consumer<Listener<Q>> event) {
        isEnded = true;
        // The service may have closed the call while a message waits.
        Admission pending = awaited;
        if (pending != null) {
            pending.giveUp();
        }
        add(to -> {
            try {
                event.accept(to);
            } finally {
                admitted.end(null, new Metadata());
            }
        });
    }
}
