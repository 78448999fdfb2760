package io.limiter.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** What goes wrong with several servers, or is done to them. */
final class ClusterFaults {
    /** Long enough for calls to meet a slot that is on its way. */
    private static final long ON_ITS_WAY_NANOS = 5_000_000;

    private static final int AT_A_TIME = 250;
    private static final String MIGRATION_MILLIS = "5000";
    private static final Pattern SLICE = Pattern.compile("slice(\\d+)");

    private ClusterFaults() {}

    static List<Fault<?>> all() {
        return List.of(
                Fault.of(
                        "cluster, one of 3 masters SIGSTOP",
                        ClusterStage::ofMasters,
                        (s, lasts) -> s.signalFirstMaster("STOP"),
                        (s, lasts) -> s.signalFirstMaster("CONT")),
                Fault.losing(
                        "cluster, one of 3 masters kill -9, replica promoted",
                        ClusterStage::withReplica,
                        (s, lasts) -> s.signalFirstMaster("KILL"),
                        (s, lasts) -> s.awaitPromotion()),
                Fault.loop(
                        "cluster, slots moved in a loop",
                        ClusterStage::ofMasters,
                        (s, lasts) -> moveSlot(s),
                        (s, lasts) -> s.masters().forEach(node -> node.expectErrors("ASK"))),
                Fault.mild(
                        "cluster, a master moves 5 000 slots",
                        70,
                        ClusterStage::ofMasters,
                        (s, lasts) -> moveSlots(s, 5_000),
                        (s, lasts) -> s.masters().get(0).expectErrors("MOVED")),
                Fault.mild(
                        "cluster, servers begin to refuse scripts of several slots",
                        90,
                        ClusterStage::wired,
                        (s, lasts) -> s.refuseScriptsOfSeveralSlots(),
                        (s, lasts) -> s.expectRefusals()),
                Fault.losing(
                        "sentinel, master kill -9, replica promoted",
                        SentinelStage::started,
                        (s, lasts) -> s.killMaster(),
                        (s, lasts) -> s.awaitPromotion()));
    }

    /** Moves a slot that is in use from one master to another. */
    private static void moveSlot(ClusterStage stage) {
        int which = ThreadLocalRandom.current().nextInt(3);
        Admin from = stage.masters().get(which);
        Admin to = stage.masters().get((which + 1) % 3);
        move(
                stage,
                from,
                to,
                List.of(from.ask("CLUSTER", "KEYSLOT", busyKey(from)).toString()),
                ON_ITS_WAY_NANOS);
    }

    /** The first ones of the first master, to the second one, many at a time. */
    private static void moveSlots(ClusterStage stage, int count) {
        for (int from = 0; from < count; from += AT_A_TIME) {
            List<String> slots = IntStream.range(from, from + AT_A_TIME)
                    .mapToObj(Integer::toString)
                    .toList();
            move(stage, stage.masters().get(0), stage.masters().get(1), slots, 0);
        }
    }

    private static void move(ClusterStage stage, Admin from, Admin to, List<String> slots, long onItsWayNanos) {
        String source = from.text("CLUSTER", "MYID");
        String target = to.text("CLUSTER", "MYID");
        to.askEach(slots, slot -> List.of("CLUSTER", "SETSLOT", slot, "IMPORTING", source));
        from.askEach(slots, slot -> List.of("CLUSTER", "SETSLOT", slot, "MIGRATING", target));
        LockSupport.parkNanos(onItsWayNanos);
        for (String slot : slots) {
            for (List<String> keys = keys(from, slot); !keys.isEmpty(); keys = keys(from, slot)) {
                // One at a time, so that calls meet a slot of which some keys have gone.
                from.ask("MIGRATE", "127.0.0.1", Integer.toString(stage.port(to)), keys.get(0), "0", MIGRATION_MILLIS);
            }
        }
        LockSupport.parkNanos(onItsWayNanos);
        to.askEach(slots, slot -> List.of("CLUSTER", "SETSLOT", slot, "NODE", target));
        for (Admin other : stage.masters()) {
            if (other != to) {
                other.askEach(slots, slot -> List.of("CLUSTER", "SETSLOT", slot, "NODE", target));
            }
        }
    }

    private static List<String> keys(Admin node, String slot) {
        return node.texts("CLUSTER", "GETKEYSINSLOT", slot, "100");
    }

    /** The key on this master that is asked for most at this moment, as far as can be seen; else any. */
    private static String busyKey(Admin node) {
        List<String> hot = new ArrayList<>(node.texts("KEYS", "*slice*"));
        String newest = node.text("RANDOMKEY");
        long slice = -1;
        for (String key : hot) {
            Matcher number = SLICE.matcher(key);
            if (key.contains("hot-") && number.find() && Long.parseLong(number.group(1)) > slice) {
                slice = Long.parseLong(number.group(1));
                newest = key;
            }
        }
        return newest;
    }
}
