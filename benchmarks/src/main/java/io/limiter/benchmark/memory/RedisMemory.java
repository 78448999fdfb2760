package io.limiter.benchmark.memory;

import io.limiter.benchmark.Options;
import io.limiter.benchmark.Rounds;
import io.limiter.benchmark.redis.Contender;
import io.limiter.benchmark.redis.Server;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Semaphore;

/** The memory of Redis that clients take, as reported by Redis: each client makes calls, and has state. */
public final class RedisMemory {
    private static final String[] DEFAULTS = {
        "contenders",
        "limiter-fixed,limiter-bucket,limiter-list,limiter-zset,limiter-aligned,limiter-members,limiter-stock,limiter-block,limiter-two,gcra,bucket4j-lettuce,rrl,increx",
        "clients",
        "100000",
        "calls",
        "1"
    };

    private static final int IN_FLIGHT = 256;
    private static final long PERMITS = 100;
    private static final long DAY_MICROS = 86_400_000_000L;

    private RedisMemory() {}

    /** Takes pairs such as {@code --clients 100000}, and prints a row for each contender. */
    public static void run(String[] args, PrintStream out) throws IOException {
        Options options = new Options(args, DEFAULTS);
        int clients = options.whole("clients");
        Rounds table = new Rounds(out, "redis_bytes_per_client", "redis_keys_per_client");
        try (Server server = new Server()) {
            for (String name : options.list("contenders")) {
                server.empty();
                try (Contender contender =
                        Contender.of(name, new Contender.Task(server.address(), "10s", PERMITS, DAY_MICROS))) {
                    // With its connections and its script.
                    ask(contender, clients, clients + 1, 1);
                    double before = server.usage().memory();
                    ask(contender, 0, clients, options.whole("calls"));
                    table.add(
                            name,
                            options.text("calls") + " calls of a client",
                            options.text("clients"),
                            (server.usage().memory() - before) / clients,
                            (double) server.keys() / (clients + 1));
                } catch (Contender.UnavailableException e) {
                    System.err.println(name + " is left out: " + e.getMessage());
                }
            }
        }
        table.print();
    }

    private static void ask(Contender contender, int from, int to, int calls) {
        Semaphore room = new Semaphore(IN_FLIGHT);
        for (int call = 0; call < calls; call++) {
            for (int key = from; key < to; key++) {
                room.acquireUninterruptibly();
                contender.askAsync(key).whenComplete((answer, failure) -> room.release());
            }
            room.acquireUninterruptibly(IN_FLIGHT);
            room.release(IN_FLIGHT);
        }
    }
}
