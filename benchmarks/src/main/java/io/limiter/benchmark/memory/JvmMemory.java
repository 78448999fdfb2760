package io.limiter.benchmark.memory;

import io.limiter.benchmark.Child;
import io.limiter.benchmark.Options;
import io.limiter.benchmark.Spread;
import io.limiter.benchmark.Table;
import io.limiter.benchmark.jvm.Contender;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The heap that clients take after a garbage collection, with their names: each client makes calls, and has state. Each
 * contender has a JVM of its own.
 */
public final class JvmMemory {
    private static final String[] DEFAULTS = {
        "contenders",
                "fixed,bucket,list,zset,aligned,members,stock,block,two,bucket4j-caffeine,bucket4j,resilience4j,guava,cas-window,cas-bucket,cas-gcra",
        "clients", "1000000",
        "calls", "1",
        "rounds", "3"
    };

    /** The password that JMH requires to create one. */
    private static final String UNDERSTOOD =
            "Today's password is swordfish. I understand instantiating Blackholes directly is dangerous.";

    private JvmMemory() {}

    /** Takes pairs such as {@code --clients 100000}, and prints a row for each contender. */
    public static void run(String[] args, PrintStream out) throws IOException {
        Options options = new Options(args, DEFAULTS);
        Map<String, List<Double>> all = new LinkedHashMap<>();
        for (int round = 0; round < options.whole("rounds"); round++) {
            for (String contender : options.list("contenders")) {
                try (Child child =
                        Child.start("memory-of", contender, options.text("clients"), options.text("calls"))) {
                    all.computeIfAbsent(contender, name -> new ArrayList<>()).add(Double.parseDouble(child.line()));
                }
            }
        }
        Table table = new Table(out, "bytes_per_client", "bytes_per_client_min", "bytes_per_client_max");
        all.forEach((contender, bytes) -> {
            Spread spread = Spread.of(bytes);
            table.row(
                    contender,
                    options.text("calls") + " calls of a client",
                    options.text("clients"),
                    spread.median(),
                    spread.least(),
                    spread.most());
        });
    }

    /** The part of the other JVM: prints the bytes of one client. */
    public static void child(String[] args) {
        int clients = Integer.parseInt(args[1]);
        Blackhole sink = new Blackhole(UNDERSTOOD);
        try (Contender warm = many(args[0])) {
            warm.decide(0, sink);
            // The static state of the classes exists by now.
        }
        long before = usedAfterCollection();
        try (Contender.ByName asked = many(args[0])) {
            for (int call = 0; call < Integer.parseInt(args[2]); call++) {
                for (int client = 0; client < clients; client++) {
                    asked.decide("client-" + client, sink);
                }
            }
            System.out.println((double) (usedAfterCollection() - before) / clients);
            // Still in use: nothing of it may be collected before.
            asked.decide("client-0", sink);
        }
    }

    /** Limits of 100 a day, so that no state expires before it is measured. */
    private static Contender.ByName many(String contender) {
        return (Contender.ByName) Contender.of(contender, false, true);
    }

    private static long usedAfterCollection() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            used = Math.min(
                    used,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return used;
    }
}
