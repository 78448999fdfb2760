package io.limiter.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ServerCall.Listener;
import io.grpc.Status.Code;
import io.limiter.grpc.CallSite.Talk;
import io.limiter.kit.Await;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Calls that go from one thread to another: the limiter's, the service's, the transport's, and none that is free. */
class HandOverTest extends HandOver {
    /** No thread is needed while calls wait. */
    @Test
    void aCallWaitsForItsPermitUnlessItsClientLeaves() throws Exception {
        start(WAITS, builder -> builder);
        assertEquals(Code.OK, site.code());
        Talk leaves = site.vote("v");
        awaitWaiting(1);
        Talk stays = site.vote("v");
        awaitWaiting(2);
        leaves.cancel();
        awaitWaiting(1);
        timer.advance(999_999);
        assertFalse(stays.isOver(), "no permit is due");
        timer.advance(1);
        assertEquals(Code.OK, stays.end().code());
        Talk second = site.vote("v");
        awaitWaiting(1);
        site.interceptor.stopHolding();
        assertEquals(Code.UNAVAILABLE, second.end().code());
    }

    /** By itself, because the call may reach the server after its client knows the end. */
    @Test
    void aCallWaitsNoLongerThanItsClient() throws Exception {
        start(WAITS, builder -> builder);
        assertEquals(Code.OK, site.code());
        assertEquals(Code.DEADLINE_EXCEEDED, site.voteWithin(50).end().code());
        awaitWaiting(0);
    }

    /** The thread that has the decision is one of Redis' or of the clock's. */
    @Test
    void noServiceRunsWhereNoThreadIsFree() throws Exception {
        start(WAITS, HandOver::withoutThreads);
        assertEquals(Code.OK, site.code());
        assertEquals(Code.UNAVAILABLE, codeAfterWaiting());
        assertEquals(1, served.get());
        assertEquals(1, site.taken("kept", 1_000), "what the second one took came back");
        assertNothingInFlight();
    }

    /** What a task takes along can fail. Its call has left the queue and its place, of which there is one. */
    @Test
    void aContextThatFailsKeepsNoPlace() throws Exception {
        AtomicInteger failing = new AtomicInteger(3);
        start(
                "limiter.wait.max-waiting = 1\n" + WAITS,
                builder -> builder.context(task -> {
                    if (failing.getAndDecrement() > 0) {
                        throw new IllegalStateException("meant");
                    }
                    return task;
                }));
        assertEquals(Code.OK, site.code());
        while (failing.get() > 0) {
            assertEquals(Code.UNKNOWN, site.code());
            awaitWaiting(0);
        }
        assertEquals(Code.OK, codeAfterWaiting());
        assertNothingInFlight();
    }

    /** The decision is there, and its task has not begun. */
    @Test
    void aCallThatLeavesBetweenDecisionAndServiceIsNotServed() throws Exception {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        start(WAITS, builder -> builder.executor(tasks::add));
        assertEquals(Code.OK, site.code());
        Talk talk = site.vote("v");
        awaitWaiting(1);
        assertTrue(tasks.isEmpty());
        timer.advance(1_000_000);
        Await.until("it is decided", () -> !tasks.isEmpty());
        assertEquals(1, site.taken("flight", 9));
        talk.cancel();
        assertNothingInFlight();
        tasks.remove().run();
        assertEquals(1, served.get());
        assertEquals(2, site.taken("kept", 1_000), "what was decided is kept");
        assertNothingInFlight();
    }

    /** Its end is already behind the message at which it fails. */
    @Test
    void aServiceThatFailsAfterItsClientHasLeftHoldsNothing() throws Exception {
        CompletableFuture<Talk> calling = new CompletableFuture<>();
        start(COUNTED + MESSAGES, builder -> builder, raw(call -> {
            call.request(2);
            return new Listener<>() {
                @Override
                public void onMessage(String message) {
                    if (message.equals("2")) {
                        calling.join().cancel();
                        Await.until("the client has left", () -> site.left.get() == 1);
                        throw new IllegalStateException("meant");
                    }
                }

                @Override
                public void onCancel() {
                    cancelled.countDown();
                }
            };
        }));
        calling.complete(site.chat().say("1", "2"));
        awaitWaiting(1);
        timer.advance(1_000_000);
        assertTrue(cancelled.await(60, TimeUnit.SECONDS), "the service knows");
        assertNothingInFlight();
    }
}
