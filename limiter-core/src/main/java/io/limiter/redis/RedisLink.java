package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to Redis: a lane to each master. Connects on a thread of its own, again and again until it succeeds, so that no
 * caller ever waits for a connection; once connected, Redisson keeps it up, and that thread tests each master that comes up
 * or comes back. Thread-safe.
 */
final class RedisLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RedisBackend.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 500;
    private static final Duration PROBE_PAUSE = Duration.ofMillis(100);
    /** Longer than callers wait: what answers by then is slow, and not away. */
    private static final Duration PROBE_PATIENCE = Duration.ofMillis(250);

    private static final Duration LONGEST_PROBE = Duration.ofSeconds(2);
    /** How often findings are looked at again, and masters that have gone are forgotten. */
    private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

    /** Of a self-test: the first use of everything takes longer than any later one. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final String name;
    private final Supplier<RedissonClient> connect;
    private final boolean owned;
    private final RedisKeys keys;
    private final Duration deadline;
    private final Deadlines deadlines;
    private final TimeSource monotonic = TimeSource.system();
    private final CountDownLatch connected = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    /** For the watch. Also what is to be logged: a log that is slow must not hold up the clock of the callers. */
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    /** Lanes whose last test had no answer. */
    private final Set<Lane> untested = ConcurrentHashMap.newKeySet();

    private final Map<Object, Lane> lanes = new ConcurrentHashMap<>();
    private final Findings findings = new Findings();
    private final Lane.Watch onLanes = new OnLanes();
    private final Thread watch;
    private volatile @Nullable Session session;
    private volatile @Nullable RedissonClient client;

    /** A connection. */
    private record Session(Masters masters, Evaluator evaluator) {}

    /**
     * Starts to connect.
     *
     * @param name how messages call this Redis
     * @param connect makes or gives the client
     * @param owned whether the client is ours to shut down
     * @param deadline within which the answer to a probe is in time
     */
    RedisLink(
            String name,
            Supplier<RedissonClient> connect,
            boolean owned,
            RedisKeys keys,
            Duration deadline,
            Deadlines deadlines) {
        this.name = name;
        this.connect = connect;
        this.owned = owned;
        this.keys = keys;
        this.deadline = deadline;
        this.deadlines = deadlines;
        this.watch = new Thread(this::watch, "limiter-redis-watch");
        watch.setDaemon(true);
        watch.setContextClassLoader(RedisLink.class.getClassLoader());
        watch.start();
    }

    boolean awaitConnected(Duration longest) throws InterruptedException {
        return connected.await(longest.toNanos(), TimeUnit.NANOSECONDS) && !isClosed();
    }

    /** What the self-tests of the masters found, as it stands now. */
    List<String> findings() {
        return findings.all();
    }

    /** Whether the keys of one call must share a slot. */
    boolean isCluster() {
        Session now = session;
        return now != null && now.masters.areCluster();
    }

    /** Runs a script for somebody who waits, on the master that has its first key; fails at once if that is silent. */
    CompletableFuture<List<Object>> run(Waiter waiter, Script script, List<Object> names, Object[] arguments) {
        Session now = session;
        if (now == null) {
            return CompletableFuture.failedFuture(
                    isClosed()
                            ? RedisFailure.closed()
                            : new BackendException("RL-201 there is no connection to " + name + " yet"));
        }
        return lane(now.masters.of((String) names.get(0)))
                .run(waiter, () -> now.evaluator.run(waiter, script, names, arguments));
    }

    /** Lets the calls in flight finish, for no longer than they may take; then ends everything. */
    @Override
    public void close() {
        closed.countDown();
        session = null;
        connected.countDown();
        watch.interrupt();
        CompletableFuture<?>[] idle =
                lanes.values().stream().map(Lane::whenIdle).toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(idle).get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (Exception notIdle) {
            LOG.debug("closing with calls in flight, which end at their deadline", notIdle);
        }
        lanes.values().forEach(lane -> lane.failWaiting(RedisFailure.closed()));
        RedissonClient own = client;
        if (owned && own != null) {
            RedisClients.shutdown(own);
        }
        joinWatch();
    }

    private void joinWatch() {
        if (Thread.currentThread() != watch) {
            try {
                watch.join(PATIENCE.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private Lane lane(Object master) {
        Lane lane = lanes.get(master);
        return lane != null
                ? lane
                : lanes.computeIfAbsent(master, found -> {
                    Lane made = new Lane(found, Masters.name(found), monotonic, deadline, onLanes);
                    tasks.add(() -> test(made));
                    return made;
                });
    }

    private final class OnLanes implements Lane.Watch {
        @Override
        public void suspect(Lane lane) {
            probe(lane);
        }

        @Override
        public void away(Lane lane) {
            tasks.add(() -> LOG.warn(
                    "RL-225 {} does not answer; the failure modes answer at once, without waiting for it, until a probe"
                            + " gets through",
                    lane.name()));
        }

        @Override
        public void back(Lane lane, Breaker.State before) {
            if (before == Breaker.State.OPEN) {
                tasks.add(() -> LOG.info("RL-226 {} answers again and decides", lane.name()));
                tasks.add(() -> test(lane));
            }
        }

        @Override
        public void after(Duration pause, Runnable task) {
            deadlines.after(pause, task);
        }
    }

    /** Asks a master that does not answer, one probe at a time, until it does or is no master any more. */
    private void probe(Lane lane) {
        Session now = session;
        if (now == null) {
            return;
        }
        if (lane.isClosed()) {
            lane.endProbing();
            return;
        }
        try {
            if (!now.masters.all().contains(lane.master())) {
                remove(lane);
                return;
            }
            Call call = SelfTest.probe(keys, SelfTest.keyOn(lane.master(), now.masters, keys));
            long sentMicros = monotonic.nowMicros();
            deadlines
                    .bound(
                            patience(lane),
                            waiter -> now.evaluator.run(waiter, call.script(), call.keys(), call.arguments(null)))
                    .whenComplete((reply, failure) -> {
                        if (session != null) {
                            lane.probed(
                                    failure == null ? null : RedisFailure.of(failure),
                                    monotonic.nowMicros() - sentMicros);
                        }
                        deadlines.after(PROBE_PAUSE, () -> probe(lane));
                    });
        } catch (RuntimeException e) {
            // Whatever it is (a client that somebody shut down, say): without a next probe the lane would stay shut for
            // ever.
            LOG.debug("a probe could not be sent to {}", lane.name(), e);
            deadlines.after(PROBE_PAUSE, () -> probe(lane));
        }
    }

    /** As long as anybody would wait: whom it answers in time, it is not away for. */
    private Duration patience(Lane lane) {
        Duration longest = lane.longest().compareTo(PROBE_PATIENCE) > 0 ? lane.longest() : PROBE_PATIENCE;
        longest = deadline.compareTo(longest) > 0 ? deadline : longest;
        return longest.compareTo(LONGEST_PROBE) > 0 ? LONGEST_PROBE : longest;
    }

    private void remove(Lane lane) {
        lanes.remove(lane.master(), lane);
        untested.remove(lane);
        findings.remove(lane.name());
    }

    private void watch() {
        try {
            connectUntilDone();
            while (!isClosed()) {
                Runnable task = tasks.poll(LOOK_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
                if (task != null) {
                    task.run();
                } else {
                    lookAgain();
                }
            }
        } catch (InterruptedException closing) {
            LOG.debug("the watch on {} ends", name);
        }
    }

    /** What was found may be so no more, and who was master, neither. */
    private void lookAgain() {
        Session now = session;
        if (now == null) {
            return;
        }
        List<Object> masters = now.masters.all();
        for (Lane lane : List.copyOf(lanes.values())) {
            if (!masters.contains(lane.master())) {
                remove(lane);
            } else if (untested.contains(lane) || findings.has(lane.name())) {
                test(lane);
            }
        }
    }

    private void connectUntilDone() throws InterruptedException {
        long pause = FIRST_PAUSE_MILLIS;
        String told = "";
        while (!isClosed()) {
            try {
                connectOnce();
                return;
            } catch (LinkageError e) {
                LOG.error("RL-211 this Redisson can't be used; the limiter needs 4.7.0 or newer", e);
                closed.await();
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                String reason = RedisFailure.whileConnecting(e);
                if (!isClosed() && !reason.equals(told)) {
                    told = reason;
                    LOG.warn(
                            "{}; no connection to {} yet; the failure modes answer, and it is tried again until there is"
                                    + " one",
                            reason,
                            name);
                }
                LOG.debug("the attempt to connect failed", e);
            }
            if (closed.await(pause, TimeUnit.MILLISECONDS)) {
                return;
            }
            pause = Math.min(LONGEST_PAUSE_MILLIS, pause * 2);
        }
    }

    private void connectOnce() throws Exception {
        RedissonClient made = client;
        if (made == null) {
            made = connect.get();
            client = made;
        }
        if (isClosed()) {
            close();
            throw new InterruptedException("closed while connecting");
        }
        Session fresh = new Session(new Masters(made), new Evaluator(made));
        BackendException silence = null;
        List<Lane> silent = new ArrayList<>();
        List<Object> masters = fresh.masters.all();
        for (Object master : masters) {
            Lane lane = lane(master);
            try {
                findings.set(lane.name(), found(fresh, master));
            } catch (BackendException e) {
                silence = e;
                silent.add(lane);
            }
        }
        // They are tested, or will be when a probe gets through.
        tasks.clear();
        if (silence != null && silent.size() == masters.size()) {
            throw silence;
        }
        session = fresh;
        // Others answer, so those that need them get an answer; who needs these is not kept waiting.
        silent.forEach(Lane::open);
        if (isClosed()) {
            session = null;
            return;
        }
        LOG.info("connected to {}", name);
        connected.countDown();
    }

    private void test(Lane lane) {
        Session now = session;
        if (now == null || !lane.isClosed()) {
            return;
        }
        untested.remove(lane);
        try {
            findings.set(lane.name(), found(now, lane.master()));
        } catch (BackendException silent) {
            untested.add(lane);
            LOG.debug("{} does not answer its self-test", lane.name(), silent);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Runs each script once on a master, and looks at what it is.
     *
     * @throws BackendException if it does not answer; errors that it replies are findings
     */
    private Map<String, String> found(Session session, Object master) throws InterruptedException {
        var nobody = SelfTest.keyOn(master, session.masters, keys);
        Map<String, String> found = new LinkedHashMap<>();
        for (Call call : SelfTest.calls(keys, nobody)) {
            List<Object> reply = ask(session, call.script(), call.keys(), call.arguments(null), found);
            try {
                if (!reply.isEmpty()) {
                    call.outcomes(reply);
                }
            } catch (BackendException error) {
                add(found, error, call.script());
            }
        }
        List<Object> names = List.of(SelfTest.name(keys, nobody));
        ask(session, Script.RESET, names, new Object[0], found);
        List<Object> reply = ask(session, Script.SELF_TEST, names, new Object[0], found);
        if (reply.size() == SelfTest.REPLY_SIZE) {
            found.putAll(SelfTest.findings(reply, Clock.systemUTC(), session.masters.areCluster()));
        }
        if (session.masters.areCluster() && !session.masters.areToldApart()) {
            found.put(
                    "RL-231",
                    "its masters can't be told apart, because the client is not Redisson's own class but wraps it; so one"
                            + " that is away keeps its callers waiting for the deadline each time");
        }
        return found;
    }

    /** The reply; nothing when it is an error, which is a finding. */
    private List<Object> ask(
            Session session, Script script, List<Object> names, Object[] arguments, Map<String, String> found)
            throws InterruptedException {
        try {
            return session.evaluator
                    .run(Waiter.ofNobody(PATIENCE), script, names, arguments)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            BackendException failure = RedisFailure.of(e);
            if (!RedisFailure.isAnswer(e)) {
                throw failure;
            }
            add(found, failure, script);
            return List.of();
        }
    }

    private static void add(Map<String, String> found, BackendException error, Script script) {
        String message = String.valueOf(error.getMessage());
        int space = message.indexOf(' ');
        found.putIfAbsent(
                message.substring(0, space), message.substring(space + 1) + " (script " + script.name() + ")");
    }
}
