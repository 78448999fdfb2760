package io.limiter.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.resource.ClientResources;
import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The masters of a Redis behind Lettuce, by its public API: plain connections that never send anything again, one for the scripts of
 * each master, and one for everything else, which is opened when it is needed. Which master has a slot is asked of the cluster, which one
 * the sentinels watch of them, once a second; a {@code MOVED} is followed, and an {@code ASK} too. Thread-safe.
 */
final class LettuceTransport implements Transport {
    private static final TimeSource TIME = TimeSource.system();
    /** How often a command of which nothing ran may be sent again: its script was not loaded, or its key is elsewhere. */
    private static final int AGAIN = 5;
    /** After another connection had an answer: replies of one server to two connections come within that time. */
    private static final long SILENT_MICROS = 20_000;
    /** The shortest time between two replacements of a connection: more would not reach a master sooner. */
    private static final long RENEW_PAUSE_MICROS = 1_000_000;

    private static final long SHUTDOWN_SECONDS = 2;

    /** A server, by its address. */
    private static final class Node {
        final LettuceLine line;
        /** Commands leave it in the order in which one thread hands them over: what follows {@code ASKING} must be the next. */
        final LettuceLine other;

        private long renewedMicros = Long.MIN_VALUE;

        Node(RedisClient client, RedisURI uri, ScheduledExecutorService timer) {
            this.line = new LettuceLine(client, uri, timer, Runnable::run);
            this.other = new LettuceLine(client, uri, timer, timer);
        }

        /** Returns when its connections were last replaced, if not now. */
        synchronized long renew() {
            long now = TIME.nowMicros();
            if (now - RENEW_PAUSE_MICROS >= renewedMicros) {
                line.renew();
                other.renew();
                renewedMicros = now;
            }
            return renewedMicros;
        }

        void close() {
            line.close();
            other.close();
        }
    }

    /**
     * A command to the master that has a key.
     *
     * @param script what it is the hash of, to be loaded where it is not known; null for another command
     * @param follows whether it follows its key to another master
     */
    private record Errand(
            List<?> words,
            @Nullable Script script,
            boolean follows,
            BooleanSupplier isWanted,
            Command.Receiver receiver) {}

    private final RedisClient client;
    private final @Nullable ClientResources own;
    private final RedisURI first;
    private final boolean cluster;
    private final ScheduledExecutorService timer;
    /** Whom to ask for the masters, if none of these answers. */
    private final List<Node> seeds = new ArrayList<>();

    private final Map<String, Node> nodes = new ConcurrentHashMap<>();
    /** The master of each slot; of a single server all have the first. */
    private final AtomicReferenceArray<@Nullable Node> slots;

    private volatile List<Object> masters = List.of();
    private volatile boolean closed;

    /**
     * @param own what ends with the client; null if it is the application's
     * @param addresses one of a server or of a master with its sentinels, or some nodes of a cluster
     * @param timer runs tasks that do not block, on one thread; drops them after it is closed
     */
    LettuceTransport(
            RedisClient client,
            @Nullable ClientResources own,
            List<RedisURI> addresses,
            boolean cluster,
            ScheduledExecutorService timer) {
        this.client = client;
        this.own = own;
        this.first = addresses.get(0);
        this.cluster = cluster;
        this.timer = timer;
        this.slots = new AtomicReferenceArray<>(cluster ? SlotHash.SLOT_COUNT : 1);
        List<RedisURI> asked = cluster ? addresses : first.getSentinels();
        asked.forEach(uri -> seeds.add(new Node(client, uri, timer)));
        if (seeds.isEmpty()) {
            Node only = new Node(client, first, timer);
            nodes.put("", only);
            slots.set(0, only);
            masters = List.of(only);
        } else {
            watch();
        }
    }

    @Override
    public boolean isCluster() {
        return cluster;
    }

    @Override
    public Object master(String key) {
        return node(key);
    }

    private Node node(String key) {
        if (masters.isEmpty()) {
            masters();
        }
        Node master = slots.get(cluster ? SlotHash.getSlot(key) : 0);
        if (master == null) {
            throw RedisFailure.of(new ErrorReply("CLUSTERDOWN no master has the slot"));
        }
        return master;
    }

    /** Those of the last second; the first time this waits for them. */
    @Override
    public Collection<Object> masters() {
        if (masters.isEmpty()) {
            try {
                refresh().get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw RedisFailure.closed();
            } catch (ExecutionException e) {
                throw RedisFailure.of(e);
            }
        }
        nodes.values().forEach(node -> {
            node.line.ping();
            node.other.ping();
        });
        return masters;
    }

    private void watch() {
        if (!closed) {
            refresh().whenComplete((done, failure) -> after(RedisClients.TOPOLOGY_MILLIS * 1_000L, this::watch));
        }
    }

    /** Asks for the masters: one of them, or another one if that has no answer, or who was named in the beginning. */
    private CompletableFuture<Void> refresh() {
        Set<Node> all = new LinkedHashSet<>(seeds);
        if (cluster) {
            all.clear();
            masters.forEach(master -> all.add((Node) master));
            all.addAll(seeds);
        }
        return refresh(all.iterator());
    }

    private CompletableFuture<Void> refresh(Iterator<Node> sources) {
        Node asked = sources.next();
        String master = first.getSentinelMasterId();
        List<String> question =
                cluster ? List.of("CLUSTER", "NODES") : List.of("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master);
        CompletableFuture<List<Object>> answer = new CompletableFuture<>();
        asked.other.send(null, question, () -> true, (reply, failure) -> complete(answer, reply, failure));
        after(first.getTimeout().toNanos() / 1_000, () -> {
            if (answer.completeExceptionally(new TimeoutException())) {
                asked.other.renew();
            }
        });
        return answer.thenAccept(reply -> setMasters(asked, reply))
                .exceptionallyCompose(
                        failure -> sources.hasNext() ? refresh(sources) : CompletableFuture.failedFuture(failure));
    }

    private static void complete(
            CompletableFuture<List<Object>> answer, @Nullable List<Object> reply, @Nullable Throwable failure) {
        if (failure == null) {
            answer.complete(reply);
        } else {
            answer.completeExceptionally(failure);
        }
    }

    private synchronized void setMasters(Node asked, List<Object> reply) {
        Set<Node> all = new LinkedHashSet<>();
        if (cluster) {
            for (RedisClusterNode one : ClusterPartitionParser.parse((String) reply.get(0))) {
                // One that has not been told its own address is where it was asked.
                RedisURI at = one.getUri() == null ? asked.line.uri : one.getUri();
                if (!one.getSlots().isEmpty()) {
                    Node master = node(at.getHost(), at.getPort());
                    one.forEachSlot(slot -> slots.set(slot, master));
                    all.add(master);
                }
            }
        } else if (reply.size() == 2) {
            all.add(node((String) reply.get(0), Integer.parseInt((String) reply.get(1))));
            all.forEach(master -> slots.set(0, master));
        }
        if (all.isEmpty()) {
            throw new BackendException(
                    "RL-201 there is no master '" + first.getSentinelMasterId() + "', or none has slots");
        }
        masters = List.<Object>copyOf(all);
        nodes.values().removeIf(node -> {
            boolean isFormer = !all.contains(node);
            if (isFormer) {
                // The replies that are on their way arrive sooner.
                after(RENEW_PAUSE_MICROS, node::close);
            }
            return isFormer;
        });
    }

    private Node node(String host, int port) {
        return nodes.computeIfAbsent(
                host + ":" + port,
                address -> new Node(
                        client,
                        RedisURI.builder(first).withHost(host).withPort(port).build(),
                        timer));
    }

    @Override
    public String name(Object master) {
        RedisURI uri = ((Node) master).line.uri;
        return uri.getHost() == null ? "Redis" : "Redis at " + uri.getHost() + ":" + uri.getPort();
    }

    /** None: those that matter are its own. */
    @Override
    public List<String> slowSettings() {
        return List.of();
    }

    @Override
    public boolean areMastersDistinguishable() {
        return true;
    }

    @Override
    public void run(Object master, Command command, Command.Receiver receiver) {
        send(((Node) master).line, false, errand(command, receiver), AGAIN);
    }

    private static Errand errand(Command command, Command.Receiver receiver) {
        List<Object> words =
                new ArrayList<>(3 + command.keys().size() + command.arguments().size());
        words.add("EVALSHA");
        words.add(command.script().sha());
        words.add(Integer.toString(command.keys().size()));
        words.addAll(command.keys());
        words.addAll(command.arguments());
        return new Errand(words, command.script(), command.isAlone(), command::isWanted, receiver);
    }

    private void send(LettuceLine line, boolean isAsking, Errand errand, int again) {
        List<String> before = isAsking ? List.of("ASKING") : null;
        line.send(before, errand.words, errand.isWanted, (reply, failure) -> {
            String error = failure instanceof ErrorReply ? String.valueOf(failure.getMessage()) : "";
            boolean isLoaded = errand.script == null || !error.startsWith("NOSCRIPT");
            boolean isHere = !cluster || !errand.follows || !(error.startsWith("MOVED ") || error.startsWith("ASK "));
            if ((isLoaded && isHere) || again == 0 || !errand.isWanted.getAsBoolean()) {
                errand.receiver.accept(reply, failure);
            } else if (isHere) {
                List<String> load = List.of(
                        "SCRIPT", "LOAD", Objects.requireNonNull(errand.script).text());
                line.send(null, load, errand.isWanted, (sha, notLoaded) -> {
                    if (notLoaded == null) {
                        send(line, isAsking, errand, again - 1);
                    } else {
                        errand.receiver.accept(null, notLoaded);
                    }
                });
            } else {
                follow(line, error, errand, again - 1);
            }
        });
    }

    /** @param error {@code MOVED} or {@code ASK}, the slot, and the address, which lacks the host if that is the same */
    private void follow(LettuceLine from, String error, Errand errand, int again) {
        String[] words = error.split(" ", 3);
        int colon = words[2].lastIndexOf(':');
        String host = colon > 0 ? words[2].substring(0, colon) : from.uri.getHost();
        Node to = node(host, Integer.parseInt(words[2].substring(colon + 1)));
        if (words[0].equals("MOVED")) {
            // So that only the first call to a slot that has moved costs a second question.
            slots.set(Integer.parseInt(words[1]), to);
            send(to.line, false, errand, again);
        } else {
            send(to.other, true, errand, again);
        }
    }

    @Override
    public void onLost(Object master, Runnable listener) {
        ((Node) master).line.onLost = listener;
    }

    @Override
    public boolean renew(Object master, long sentMicros) {
        return ((Node) master).renew() > sentMicros;
    }

    @Override
    public void probe(Object master, Command command, Command.Receiver receiver) {
        Node node = (Node) master;
        node.line.ping();
        Command.Receiver looking = (reply, failure) -> {
            receiver.accept(reply, failure);
            if (failure == null || RedisFailure.isAnswer(failure)) {
                after(SILENT_MICROS, () -> {
                    if (node.line.isSilent()) {
                        node.line.renew();
                    }
                });
            }
        };
        send(node.other, false, errand(command, looking), AGAIN);
    }

    @Override
    public CompletableFuture<String> text(String key, int mostBytes) {
        return ask(key, List.of("GETRANGE", key, "0", Integer.toString(mostBytes - 1)))
                .thenApply(reply -> (String) reply.get(0));
    }

    @Override
    public CompletableFuture<Map<String, String>> fields(String key) {
        return ask(key, List.of("HGETALL", key)).thenApply(reply -> {
            Map<String, String> fields = new HashMap<>();
            for (int i = 0; i < reply.size(); i += 2) {
                fields.put((String) reply.get(i), (String) reply.get(i + 1));
            }
            return fields;
        });
    }

    @Override
    public CompletableFuture<List<String>> run(String script, List<String> keys, List<String> arguments) {
        List<String> words = new ArrayList<>(List.of("EVAL", script, Integer.toString(keys.size())));
        words.addAll(keys);
        words.addAll(arguments);
        return ask(keys.get(0), words)
                .thenApply(reply -> reply.stream().map(String::valueOf).toList());
    }

    private CompletableFuture<List<Object>> ask(String key, List<String> words) {
        CompletableFuture<List<Object>> answer = new CompletableFuture<>();
        Command.Receiver receiver = (reply, failure) -> complete(answer, reply, failure);
        send(node(key).other, false, new Errand(words, null, true, () -> true, receiver), AGAIN);
        return answer;
    }

    @Override
    public void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Of its computing threads: those that read answers are not in its public API, and share processors and pauses with these. */
    @Override
    public CompletableFuture<Long> latenessMicros(long longestMicros) {
        CompletableFuture<Long> lateness =
                NettyThreads.latenessMicros(client.getResources().eventExecutorGroup());
        after(longestMicros, () -> lateness.complete(longestMicros));
        return lateness;
    }

    @Override
    public void close() {
        closed = true;
        nodes.values().forEach(Node::close);
        seeds.forEach(Node::close);
        client.shutdown(Duration.ZERO, Duration.ofSeconds(SHUTDOWN_SECONDS));
        if (own != null) {
            own.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            NettyThreads.awaitEnd(SHUTDOWN_SECONDS);
        }
    }
}
