package io.limiter.http.internal;

import io.limiter.TimeSource;
import io.limiter.internal.config.RuleDefinition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which rules of a filter have counted requests: one that has not may have a wrong path, or exempt everybody, and nobody
 * would see it. Thread-safe.
 */
final class RuleUses {
    static final int REQUESTS = 10_000;
    private static final long HOUR_MICROS = 3_600_000_000L;
    private static final int BETWEEN_LOOKS = 1_000;
    private static final Logger LOG = LoggerFactory.getLogger(RuleUses.class);

    private final List<Use> uses;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();
    private final TimeSource time;
    private final long dueMicros;
    /** Roughly: an exact number would cost each request more than it is worth. */
    private int requests;

    private volatile boolean isLogged;

    RuleUses(List<Use> uses, TimeSource time) {
        this.uses = uses;
        this.time = time;
        this.dueMicros = time.nowMicros() + HOUR_MICROS;
    }

    /** The use of one rule. Only read once the rule has counted a request. */
    static final class Use {
        final RuleDefinition rule;
        /** Of the latest request that the rule matched, or the first one that it counted; null for none. */
        private volatile @Nullable Verdict verdict;

        Use(RuleDefinition rule) {
            this.rule = rule;
        }

        void note(Verdict next) {
            Verdict known = verdict;
            if (known != Verdict.COUNTED && known != next && next != Verdict.NOT_MATCHED) {
                verdict = next;
            }
        }

        /** Why the rule has counted nothing since it took effect; null if it has counted a request. */
        @Nullable
        String whyUnused() {
            Verdict known = verdict;
            if (known == null) {
                return "no request has matched it";
            }
            return known == Verdict.COUNTED
                    ? null
                    : "each request that matched it was left out, the latest because " + known.why(rule, null);
        }
    }

    /** Begins with what was seen of the rules that are the same in an earlier configuration. */
    void continueFrom(RuleUses earlier) {
        logged.addAll(earlier.logged);
        uses.forEach(use -> earlier.uses.stream()
                .filter(one -> one.rule.equals(use.rule))
                .forEach(one -> use.verdict = one.verdict));
    }

    /** Counts a request to the filter. When there have been enough, it logs the rules without use. */
    void noteRequest() {
        if (isLogged || ++requests < REQUESTS || requests % BETWEEN_LOOKS != 0 || time.nowMicros() < dueMicros) {
            return;
        }
        isLogged = true;
        unused().forEach((rule, why) -> {
            if (logged.add(rule)) {
                LOG.info("RL-193 rule '{}' has counted none of {} requests and more: {}", rule, REQUESTS, why);
            }
        });
    }

    /** By the name of each rule that has counted nothing, why. */
    Map<String, String> unused() {
        Map<String, String> unused = new HashMap<>();
        for (Use use : uses) {
            String why = use.whyUnused();
            if (why != null) {
                unused.put(use.rule.name(), why);
            }
        }
        return unused;
    }
}
