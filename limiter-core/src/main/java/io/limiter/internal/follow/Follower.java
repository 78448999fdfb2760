package io.limiter.internal.follow;

import io.limiter.BackendException;
import io.limiter.Penalty;
import io.limiter.Policy;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.ControlSettings;
import io.limiter.internal.control.ControlKeys;
import io.limiter.internal.control.ControlStore;
import io.limiter.internal.control.Directive;
import io.limiter.internal.control.Directives;
import io.limiter.internal.control.Head;
import io.limiter.internal.control.InForce;
import io.limiter.internal.control.Published;
import io.limiter.internal.control.Signer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Follows what is published for the group of an instance: looks at one small key, fetches what has changed, checks it, and puts
 * all of it into force or nothing. One thread does that; decisions never wait for it.
 */
public final class Follower implements AutoCloseable {
    private static final Logger LOG = DiagnosticLog.of(Follower.class);
    private static final long POLL_MILLIS = 500;
    private static final long REPORT_MICROS = 2_000_000;
    private static final long JUDGE_MICROS = 60_000_000;
    /** Removed directives are known for a day; who was away for longer reads all. */
    private static final long FORGETS_MICROS = 43_200_000_000L;

    private static final int PAGE = 500;
    private static final int MOST_READ = 3 * ControlKeys.MOST_DIRECTIVES;
    private static final int LONGEST_HEADER = 2_000;
    private static final int REDIS_7 = 7 << 16;
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    /** What follows. */
    public interface Instance {
        /** Lays this over its own configuration; throws if the whole does not fit. */
        void lay(Layer layer);

        /** Throws what {@link #lay} would, and changes nothing. */
        void check(Layer layer);

        /** The policies in force. */
        Map<String, Policy> policies();

        /** Calls that wait ask again. */
        void hurry(Policy policy);
    }

    private final ControlStore store;
    private final ControlSettings settings;
    private final ControlKeys keys;
    private final Signer signer;
    private final InForce inForce;
    private final Instance instance;
    private final LastGood lastGood;
    private final String name;
    private final CountDownLatch first = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "limiter-control");

    // All that follows belongs to the thread, and before its start to its maker.
    private volatile Layer layer = Layer.NONE;
    private long revision;
    private @Nullable String seenHead;
    private long lookedMicros;
    private long askedMicros;
    private String verdict = "";
    private String problem = "";
    private String behind = "";
    private long refusedMicros;
    private long reportedMicros;
    private long syncedMicros;
    private long judgedMicros;
    private boolean mustBeSigned = true;
    private long redisVersion;
    private boolean isAway;
    private boolean mayReport = true;
    private Map<String, Policy> reportedPolicies = Map.of();
    /** Set by other threads: the own configuration has changed, so what was refused may fit now. */
    private volatile boolean isOwnNew;

    /** A follower, which {@link #start} starts. */
    public Follower(ControlStore store, ControlSettings settings, InForce inForce, Instance instance) {
        String group = Objects.requireNonNull(settings.group(), "group");
        this.store = store;
        this.settings = settings;
        this.keys = new ControlKeys(group);
        this.signer = new Signer(group, settings.secret());
        this.inForce = inForce;
        this.instance = instance;
        this.lastGood = new LastGood(settings.folder(), group);
        this.name = Objects.requireNonNullElse(System.getenv("HOSTNAME"), "host") + "-"
                + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
        thread.setDaemon(true);
    }

    /** Takes what the folder has, then what Redis has, if that answers in time; then follows it. */
    public void start(Duration longest) {
        lastGood.read().forEach(this::takeKept);
        thread.start();
        try {
            if (!first.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                noteAway("RL-201 there is no answer from Redis yet");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeKept(String record) {
        try {
            if (record.contains("\n")) {
                Published kept = Published.of(record);
                kept.check(signer, false);
                lay(new Layer(kept, layer.switches()));
                LOG.info("RL-507 {} by {}, kept in {}, is in force", kept.source(), kept.author(), settings.folder());
            } else {
                Directive kept = Directive.of(record);
                kept.check(signer, false);
                take(List.of(kept));
            }
        } catch (RuntimeException unfit) {
            LOG.warn("RL-512 what is kept in {} is not taken: {}", settings.folder(), Report.plain(unfit.getMessage()));
        }
    }

    private void run() {
        try {
            do {
                poll();
                first.countDown();
            } while (!closed.await(POLL_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException ended) {
            // A container interrupts the threads of an application that it stops.
        }
    }

    /** Looks once. Never throws. */
    void poll() {
        try {
            if (redisVersion == 0) {
                report();
            }
            String text = store.get(keys.head());
            if (!Objects.equals(text, seenHead) || isOwnNew) {
                boolean again = isOwnNew;
                isOwnNew = false;
                take(Head.of(text), again);
                seenHead = text;
            }
            syncedMicros = inForce.nowMicros();
            noteBack();
            dropEnded();
            if (inForce.nowMicros() - reportedMicros >= REPORT_MICROS) {
                report();
            }
        } catch (BackendException failed) {
            dropEnded();
            noteAway(String.valueOf(failed.getMessage()));
        } catch (RuntimeException wrong) {
            note("RL-505 what is published can't be read: ", wrong);
        }
        findings();
    }

    private void take(Head head, boolean again) {
        behind = head.textMicros() < textMicros()
                ? "RL-506 Redis has an older version than the one in force here, " + layer.text() + "; publish again"
                : "";
        if (head.textMicros() > textMicros() && (again || head.textMicros() != refusedMicros)) {
            try {
                Published next = fetch(keys.text(head.version()), head.textMicros());
                lay(new Layer(next, layer.switches()));
                problem = "";
                LOG.info("RL-507 {} by {} is in force{}", next.source(), next.author(), reason(next.note()));
                lastGood.keep(layer, inForce.directives());
            } catch (BackendException away) {
                throw away;
            } catch (RuntimeException refused) {
                refusedMicros = head.textMicros();
                note("RL-505 published version " + head.version() + " is refused, the previous one stays in force: ", refused);
            }
        } else if (head.textMicros() <= textMicros()) {
            problem = "";
        }
        lookedMicros = head.textMicros();
        if (head.revision() > revision) {
            takeDirectives();
        }
        if (head.askedMicros() > askedMicros) {
            verdict = verdict(head.askedMicros());
            askedMicros = head.askedMicros();
        }
        reportedMicros = 0;
    }

    private long textMicros() {
        Published text = layer.text();
        return text == null ? 0 : text.micros();
    }

    private Published fetch(String key, long micros) {
        long size = store.size(key);
        if (size > ControlKeys.MOST_BYTES + LONGEST_HEADER) {
            throw Published.tooLong(size);
        }
        Published text = Published.of(String.valueOf(store.get(key)));
        if (text.micros() != micros) {
            throw new IllegalArgumentException("RL-502 the text is another one than the one that was announced");
        }
        text.check(signer, mustBeSigned());
        return text;
    }

    private String verdict(long micros) {
        try {
            instance.check(new Layer(fetch(keys.candidate(), micros), layer.switches()));
            return "";
        } catch (BackendException away) {
            throw away;
        } catch (RuntimeException refused) {
            return Report.plain(String.valueOf(refused.getMessage()));
        }
    }

    private void lay(Layer next) {
        instance.lay(next);
        layer = next;
    }

    private void takeDirectives() {
        if (inForce.nowMicros() - syncedMicros > FORGETS_MICROS) {
            revision = 0;
            inForce.set(Directives.NONE);
        }
        List<Directive> changes = new ArrayList<>();
        int read = 0;
        List<String> page;
        do {
            page = store.above(keys.directives(), revision, read, PAGE);
            read += page.size();
            for (String record : page) {
                try {
                    Directive one = Directive.of(record);
                    one.check(signer, mustBeSigned());
                    changes.add(one);
                } catch (BackendException away) {
                    throw away;
                } catch (RuntimeException refused) {
                    LOG.error("RL-505 an override or switch is refused: {}", Report.plain(refused.getMessage()));
                }
            }
        } while (page.size() == PAGE && read < MOST_READ);
        // By their signed revisions: who may write to Redis can change the order there.
        changes.sort(Comparator.comparingLong(Directive::revision));
        take(changes);
        lastGood.keep(layer, inForce.directives());
    }

    private void take(List<Directive> changes) {
        List<Directive> accepted = changes.stream()
                .filter(one -> one.revision() > revision
                        && settings.takes(one.key().isEmpty() ? "switches" : "overrides"))
                .toList();
        set(inForce.directives().after(accepted, inForce.nowMicros()));
        changes.forEach(one -> revision = Math.max(revision, one.revision()));
    }

    private void dropEnded() {
        set(inForce.directives().after(List.of(), inForce.nowMicros()));
    }

    private void set(Directives next) {
        Directives before = inForce.directives();
        if (next == before) {
            return;
        }
        List<Directive> come = next.without(before);
        List<Directive> gone = before.without(next);
        inForce.set(next);
        List<Directive> rules =
                next.all().stream().filter(one -> !one.rule().isEmpty()).toList();
        if (!rules.equals(layer.switches())) {
            lay(new Layer(layer.text(), rules));
        }
        DirectiveLog.log(come, gone, next);
        Stream.concat(come.stream(), gone.stream())
                .map(one -> instance.policies().get(one.policy()))
                .filter(Objects::nonNull)
                .distinct()
                .forEach(instance::hurry);
    }

    /** Whether only what is signed is taken: unless Redis shows that this application can't publish. */
    private boolean mustBeSigned() {
        long now = inForce.nowMicros();
        if (signer.hasSecret() || redisVersion < REDIS_7) {
            return true;
        }
        if (judgedMicros == 0 || now - judgedMicros > JUDGE_MICROS) {
            mustBeSigned = store.mayWrite(keys.head(), keys.unused());
            judgedMicros = now;
        }
        return mustBeSigned;
    }

    private void report() {
        String line = new Report(
                        0,
                        layer.text() == null ? 0 : layer.text().version(),
                        textMicros(),
                        revision,
                        lookedMicros,
                        askedMicros,
                        verdict,
                        problem.isEmpty() ? behind : problem)
                .line();
        List<String> arguments = new ArrayList<>(List.of(name, line));
        Map<String, Policy> policies = Map.copyOf(instance.policies());
        if (!policies.equals(reportedPolicies)) {
            policies.forEach((policy, value) -> arguments.addAll(List.of(policy, text(value))));
        }
        List<String> answer;
        try {
            answer = mayReport
                    ? store.run(ControlKeys.REPORT, List.of(keys.reports(), keys.policies()), arguments)
                    : store.run(ControlKeys.TIME, List.of(), List.of());
            reportedPolicies = policies;
        } catch (BackendException failed) {
            if (!mayReport || failed.kind() != BackendException.Kind.FAULT) {
                throw failed;
            }
            mayReport = false;
            LOG.warn("RL-511 this instance can't report, so publishers don't see it: {}", failed.getMessage());
            answer = store.run(ControlKeys.TIME, List.of(), List.of());
        }
        inForce.setTime(Long.parseLong(answer.get(0)) * 1_000_000 + Long.parseLong(answer.get(1)));
        redisVersion = Math.max(1, Long.parseLong(answer.get(2)));
        reportedMicros = inForce.nowMicros();
    }

    /** Without the names that limits have of their policy, which a text would give to another state. */
    private static String text(Policy policy) {
        return policy.limits().stream()
                .filter(limit -> !(limit instanceof Penalty))
                .map(limit -> limit.spec() + (limit.spec().identity().equals(limit.name()) ? " name " + limit.name() : ""))
                .collect(Collectors.joining(", "));
    }

    private void note(String what, RuntimeException refused) {
        String text = what + refused.getMessage();
        if (!text.equals(problem)) {
            LOG.error(text);
        }
        problem = text;
    }

    private void noteAway(String why) {
        if (!isAway) {
            isAway = true;
            LOG.warn("{}: {}", away(), why);
        }
    }

    private String away() {
        return "RL-501 what is published can't be read, so "
                + (layer.text() == null ? "the own configuration" : layer.text().source()) + " stays in force until it can";
    }

    private void noteBack() {
        if (isAway) {
            isAway = false;
            LOG.info("RL-501 resolved: what is published can be read");
        }
    }

    private void findings() {
        List<String> all = new ArrayList<>(DirectiveLog.findings(inForce.directives()));
        Stream.of(isAway ? away() : "", problem, behind)
                .filter(text -> !text.isEmpty())
                .map(Report::plain)
                .forEach(all::add);
        inForce.setFindings(all);
    }

    private static String reason(String note) {
        return note.isEmpty() ? "" : " (" + note + ")";
    }

    /** What lies over the own configuration. */
    public Layer layer() {
        return layer;
    }

    /** A configuration of the instance's own has taken effect, so what was refused may fit now. */
    public void noteOwn() {
        isOwnNew = true;
    }

    @Override
    public void close() {
        closed.countDown();
        if (thread != Thread.currentThread()) {
            try {
                thread.join(TimeUnit.SECONDS.toMillis(2));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        store.close();
    }
}
