package io.limiter.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The masters of a Redis behind Lettuce, by its public API: plain connections that never send anything again, one for the scripts of
 * each master, and one for everything else, which is opened when it is needed. A cluster is asked once a second which master has a slot,
 * and {@code MOVED} and {@code ASK} are followed; sentinels are asked by the client, whenever it connects. Thread-safe.
 */
final class LettuceTransport implements Transport {
    /** How often a command of which nothing ran may be sent again: its script was not loaded, or its key is elsewhere. */
    private static final int AGAIN = 5;

    /** A server that does not know the address of the other one names none; then its error is the answer. */
    private static final Pattern ELSEWHERE = Pattern.compile("(MOVED|ASK) \\d+ .+:\\d+");

    private static final long SHUTDOWN_SECONDS = 2;

    /**
     * A server, or the master that sentinels know: its connection for scripts, and the one for everything else, to which commands are
     * handed over on one thread, because what follows {@code ASKING} must be the next.
     */
    private record Node(LettuceLine line, LettuceLine other) {
        void retire() {
            line.retire();
            other.retire();
        }
    }

    /**
     * Words to the master that has a key.
     *
     * @param command whose words they are: it has a script, and may give up; null for words that are no decision
     */
    private record Errand(List<?> words, @Nullable Command command, Command.Receiver receiver) {
        boolean isWanted() {
            return command == null || command.isWanted();
        }
    }

    private final RedisClient client;
    private final @Nullable ClientResources own;
    private final boolean cluster;
    private final ScheduledExecutorService timer;
    /** A server, a master that sentinels know, or those of a cluster that were named in the beginning. */
    private final List<Node> first;
    /** All that were seen in a cluster, by address; those that have no slots now lose their connections within a second. */
    private final Map<String, Node> nodes = new ConcurrentHashMap<>();
    /** The master of each slot; without a cluster all have the first. */
    private final AtomicReferenceArray<@Nullable Node> slots;

    private volatile Set<Node> masters = Set.of();
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
        this.cluster = cluster;
        this.timer = timer;
        this.slots = new AtomicReferenceArray<>(cluster ? SlotHash.SLOT_COUNT : 1);
        this.first = addresses.stream().map(this::node).toList();
        if (cluster) {
            watch();
        } else {
            slots.set(0, first.get(0));
            masters = Set.copyOf(first);
        }
    }

    @Override
    public boolean isCluster() {
        return cluster;
    }

    @Override
    public Node master(String key) {
        masters();
        Node master = slots.get(cluster ? SlotHash.getSlot(key) : 0);
        if (master == null) {
            throw RedisFailure.of(new ErrorReply("CLUSTERDOWN no master has the slot"));
        }
        return master;
    }

    /** Those of the last second; the first time this waits for them. */
    @Override
    public Collection<?> masters() {
        if (masters.isEmpty()) {
            RedisFailure.await(refresh(), Duration.ofMinutes(1));
        }
        return masters;
    }

    /** Asks for the masters, again and again. The timer may run on after this is closed, with the next one. */
    private void watch() {
        if (!closed) {
            refresh().whenComplete((done, failure) -> after(RedisClients.TOPOLOGY_MILLIS * 1_000L, this::watch));
        }
    }

    /** Asks for the masters: who answered last, then the others, and in the end those that were named. */
    private CompletableFuture<Void> refresh() {
        Set<Node> all = new LinkedHashSet<>(masters);
        all.addAll(first);
        CompletableFuture<Void> known = CompletableFuture.failedFuture(new ConnectionLost("nobody was asked"));
        for (Node source : all) {
            known = known.exceptionallyCompose(silent -> byOther(source, List.of("CLUSTER", "NODES"), null)
                    .thenAccept(reply -> setMasters(source, (String) reply.get(0))));
        }
        return known;
    }

    /** By the other connection of a node, which is replaced if there is no answer in time: the network may have dropped it silently. */
    private CompletableFuture<List<Object>> byOther(Node node, List<?> words, @Nullable Command command) {
        CompletableFuture<List<Object>> answer = new CompletableFuture<>();
        Command.Receiver receiver = (reply, failure) -> {
            if (failure == null) {
                answer.complete(reply);
            } else {
                answer.completeExceptionally(failure);
            }
        };
        send(node.other, null, new Errand(words, command, receiver), AGAIN);
        after(node.line.uri.getTimeout().toNanos() / 1_000, () -> {
            if (answer.completeExceptionally(new TimeoutException())) {
                node.other.retire();
            }
        });
        return answer;
    }

    private synchronized void setMasters(Node source, String reply) {
        Set<Node> all = new LinkedHashSet<>();
        for (RedisClusterNode one : ClusterPartitionParser.parse(reply)) {
            // A node that does not know its own address has the one at which it was asked.
            RedisURI at = Objects.requireNonNullElse(one.getUri(), source.line.uri);
            if (!one.getSlots().isEmpty()) {
                Node master = node(at.getHost(), at.getPort());
                one.forEachSlot(slot -> slots.set(slot, master));
                all.add(master);
            }
        }
        if (all.isEmpty()) {
            // A node that was reset, or is not a member yet. Another one may know more.
            throw new ErrorReply("CLUSTERDOWN no master has a slot");
        }
        // Who answered is asked first again: one that is down costs a timeout.
        Set<Node> known = new LinkedHashSet<>(List.of(source));
        known.retainAll(all);
        known.addAll(all);
        masters = known;
        nodes.values().stream().filter(node -> !all.contains(node)).forEach(Node::retire);
        // The masters have connections of their own; a seed opens one again when it is asked.
        first.forEach(Node::retire);
    }

    private Node node(String host, int port) {
        RedisURI.Builder uri =
                RedisURI.builder(first.get(0).line.uri).withHost(host).withPort(port);
        return nodes.computeIfAbsent(host + ":" + port, address -> node(uri.build()));
    }

    private Node node(RedisURI uri) {
        return new Node(line(uri, Runnable::run), line(uri, timer));
    }

    private LettuceLine line(RedisURI uri, Executor writer) {
        return new LettuceLine(client, uri, timer, writer, () -> closed);
    }

    @Override
    public String name(Object master) {
        return name(((Node) master).line.uri);
    }

    /** The name of a server, or of the master that sentinels know. */
    static String name(RedisURI uri) {
        return uri.getSentinelMasterId() == null
                ? "Redis at " + uri.getHost() + ":" + uri.getPort()
                : "the Redis master " + uri.getSentinelMasterId();
    }

    @Override
    public void run(Object master, Command command, Command.Receiver receiver) {
        send(((Node) master).line, null, new Errand(command.words(), command, receiver), AGAIN);
    }

    /** @param before {@code ASKING}, or null */
    private void send(LettuceLine line, @Nullable List<String> before, Errand errand, int again) {
        line.send(before, errand.words, errand::isWanted, (reply, failure) -> {
            String error = failure instanceof ErrorReply ? String.valueOf(failure.getMessage()) : "";
            Command command = errand.command;
            boolean follows = cluster && (command == null || command.isAlone());
            if (again > 0 && follows && ELSEWHERE.matcher(error).matches()) {
                follow(error.split(" "), errand, again - 1);
            } else if (again > 0 && command != null && error.startsWith("NOSCRIPT")) {
                List<String> load = List.of("SCRIPT", "LOAD", command.script().text());
                line.send(null, load, errand::isWanted, (sha, notLoaded) -> {
                    if (notLoaded == null) {
                        send(line, before, errand, again - 1);
                    } else {
                        errand.receiver.accept(null, notLoaded);
                    }
                });
            } else {
                errand.receiver.accept(reply, failure);
            }
        });
    }

    /** @param error {@code MOVED} or {@code ASK}, the slot, and the address */
    private void follow(String[] error, Errand errand, int again) {
        int colon = error[2].lastIndexOf(':');
        Node to = node(error[2].substring(0, colon), Integer.parseInt(error[2].substring(colon + 1)));
        if (error[0].equals("MOVED")) {
            // So that only the first call to a slot that has moved costs a second question.
            slots.set(Integer.parseInt(error[1]), to);
            send(to.line, null, errand, again);
        } else {
            send(to.other, List.of("ASKING"), errand, again);
        }
    }

    @Override
    public void onLost(Object master, Runnable listener) {
        ((Node) master).line.onLost = listener;
    }

    @Override
    public boolean renew(Object master) {
        ((Node) master).retire();
        return true;
    }

    /** An answer to it shows that a new connection would work, and the caller has had none on the other. */
    @Override
    public void probe(Object master, Command command, Command.Receiver receiver) {
        Node node = (Node) master;
        byOther(node, command.words(), command).whenComplete((reply, failure) -> {
            if (failure == null) {
                node.line.retire();
            }
            receiver.accept(reply, failure);
        });
    }

    @Override
    public CompletableFuture<List<Object>> ask(String key, List<String> words) {
        return byOther(master(key), words, null);
    }

    @Override
    public void after(long micros, Runnable task) {
        timer.schedule(task, micros, TimeUnit.MICROSECONDS);
    }

    /** Of its computing threads: those that read answers are not in its public API, and share processors and pauses with these. */
    @Override
    public CompletableFuture<Long> latenessMicros(long longestMicros) {
        return NettyThreads.latenessMicros(client.getResources().eventExecutorGroup(), timer, longestMicros);
    }

    @Override
    public void close() {
        closed = true;
        // In a stage, so that what it throws is ignored: the application may have ended its threads before, and with
        // them the connections.
        CompletableFuture.completedFuture(client)
                .thenCompose(open -> open.shutdownAsync(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS))
                .completeOnTimeout(null, SHUTDOWN_SECONDS, TimeUnit.SECONDS)
                .exceptionally(ended -> null)
                .join();
        if (own != null) {
            own.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
            NettyThreads.awaitEnd(SHUTDOWN_SECONDS);
        }
    }
}
