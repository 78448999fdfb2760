package io.limiter.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCall.Listener;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.http.internal.Admission;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.http.internal.HttpRules;
import io.limiter.http.internal.RequestLedger;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The way of a call, and of its messages, through an interceptor to the service. What arrives while a decision is awaited is kept, and
 * delivered afterwards, in its order and one at a time; no thread waits. Thread-safe.
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
    private final Listener<Q> nobody = new Listener<>() {};
    /** What has arrived, and stays while a decision is awaited. Guarded by this, as the two that follow. */
    private final Queue<Runnable> events = new ArrayDeque<>(0);

    /** What no decision delays. */
    private final Queue<Runnable> urgent = new ArrayDeque<>(0);

    private boolean isBusy;

    /** Gets the events; nobody before it has begun, and after its end. */
    private volatile Listener<Q> service = nobody;

    private volatile @Nullable Admission awaited;
    /** Whether the transport has reported the end of the call. */
    private volatile boolean isEnded;
    /** Whether the service has thrown something, which ends the call as a client does that leaves. */
    private volatile boolean hasFailed;

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
        this.request = rules.users().apply(call);
        this.ledger = RequestLedger.of(request, rules.calls().limiter(), RequestLedger.class, RequestLedger::new);
        this.admitted = new AdmittedCall<>(received, call, ledger);
    }

    /** Begins the service if the call is admitted; closes or holds any other. */
    Listener<Q> begin(ServerCallHandler<Q, A> next) {
        Context context = call.context();
        boolean isKnown = decide(rules.calls(), request, ledger, decision -> {
            if (decision != null) {
                rules.answers().note(decision, call);
            }
            service = Objects.requireNonNull(
                    Contexts.interceptCall(context, admitted, call.headers(), next), "a service without a listener");
        });
        // This stays in the way where it still has something to do: count messages, or end what the call took. An open
        // stream meets the rules for messages of a later configuration too.
        boolean isStream = !admitted.getMethodDescriptor().getType().clientSendsOneMessage();
        return isKnown && !isStream && !rules.countMessages() && !ledger.hasEnd() ? service : this;
    }

    /** Decides something. If the answer is not known now, what arrives is kept until it is; false then. */
    private boolean decide(HttpRules by, GrpcRequest of, RequestLedger charged, Consumer<@Nullable Decision> onward) {
        Admission admission = new Admission(by, terms.places, of, false, false) {
            @Override
            protected RequestLedger ledger() {
                return charged;
            }
        };
        CompletableFuture<Admission> answer = admission.begin();
        if (answer == null) {
            use(admission, onward);
            return true;
        }
        Runnable rest;
        try {
            rest = Context.current().wrap(terms.wrapper.apply(() -> resume(admission, onward)));
        } catch (Throwable failed) {
            admission.giveUp();
            throw failed;
        }
        awaited = admission;
        if (isEnded) {
            admission.giveUp();
        }
        answer.thenRun(() -> {
            try {
                terms.executor.execute(rest);
            } catch (Throwable full) {
                // This thread is one of the limiter's or of Redis': the service must not run here.
                admission.giveBack();
                admitted.cut(Status.UNAVAILABLE.withDescription("No thread is free."), new Metadata(), () -> {});
            }
        });
        return false;
    }

    private void resume(Admission admission, Consumer<@Nullable Decision> onward) {
        try {
            add(urgent, () -> {
                awaited = null;
                use(admission, onward);
            });
        } catch (Throwable failed) {
            // As gRPC does on its own threads.
            admitted.cut(Status.UNKNOWN.withDescription("Application error processing RPC"), new Metadata(), () -> {});
            throw failed;
        }
    }

    private void use(Admission admission, Consumer<@Nullable Decision> onward) {
        boolean isOpen = admission.use();
        try {
            if (isOpen && admission.isAdmitted()) {
                onward.accept(admission.decision());
            } else if (isOpen && admission.failure() != null) {
                throw new IllegalStateException("there is no decision about a call", admission.failure());
            } else if (isOpen) {
                deny(admission);
            }
        } catch (Throwable failed) {
            admission.fail();
            throw failed;
        }
    }

    /** Closes the call instead of the service. If it has begun, because a message is denied, it sees that the call is cancelled. */
    private void deny(Admission answer) {
        Metadata trailers = new Metadata();
        // A client must not end it at its estimate by a message that is denied.
        Runnable last = service == nobody ? () -> {} : () -> end(Listener::onCancel, true);
        admitted.cut(rules.answers().denial(answer, call, trailers), trailers, last);
        answer.release();
    }

    /** Tells the service how the call ends, and then what it took. */
    private void end(Consumer<Listener<Q>> event, boolean isLeft) {
        Listener<Q> last = service;
        service = nobody;
        try {
            event.accept(last);
        } finally {
            admitted.end(null, new Metadata(), isLeft);
        }
    }

    /** Delivers an event as soon as it may follow those before. */
    private void add(Queue<Runnable> to, Runnable event) {
        synchronized (this) {
            to.add(event);
            if (isBusy) {
                return;
            }
            isBusy = true;
        }
        deliver();
    }

    private synchronized @Nullable Runnable next() {
        Runnable next = urgent.isEmpty() && awaited == null ? events.poll() : urgent.poll();
        isBusy = next != null;
        return next;
    }

    private void deliver() {
        Runnable next = next();
        try {
            for (; next != null; next = next()) {
                next.run();
            }
        } catch (StatusRuntimeException answer) {
            admitted.end(answer.getStatus(), new Metadata(), admitted.isCancelled());
            throw answer;
        } catch (Throwable failed) {
            hasFailed = !admitted.isCancelled();
            throw failed;
        } finally {
            if (next != null) {
                // It has failed. The end of the call may be behind it.
                deliver();
            }
        }
    }

    @Override
    public void onMessage(Q message) {
        CallRules now = terms.inForce.get();
        boolean isCounted = now.countMessages();
        if (isCounted) {
            now.messages().noteRequest();
        }
        Map<Object, RequestLedger> ledgers = call.shared().ledgers(this);
        add(events, () -> {
            if (isEnded || admitted.isOver()) {
                return;
            }
            Consumer<@Nullable Decision> onward = decision -> {
                call.shared().pass(ledgers, () -> service.onMessage(message));
                admitted.noteDelivered();
            };
            if (isCounted) {
                // Each message is charged for itself, so it has ledgers of its own, which nothing ends.
                RateLimiter owner = now.messages().limiter();
                RequestLedger own = ledgers.computeIfAbsent(owner, none -> new RequestLedger(owner, null));
                // A mark: if the same ledgers come here again, it is with another message.
                ledgers.put(this, own);
                decide(now.messages(), request.ofMessage(), own, onward);
            } else {
                onward.accept(null);
            }
        });
    }

    @Override
    public void onHalfClose() {
        add(events, () -> service.onHalfClose());
    }

    /** A service may send while a message waits. */
    @Override
    public void onReady() {
        add(service == nobody ? events : urgent, () -> service.onReady());
    }

    @Override
    public void onComplete() {
        // A service whose call was closed by the limiter has not completed.
        end(admitted.isCut() ? Listener::onCancel : Listener::onComplete);
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
        add(urgent, () -> end(event, !hasFailed));
    }
}
