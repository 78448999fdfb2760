package io.limiter.faults;

import io.limiter.Charge;
import io.limiter.Decision;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The answers to the callers, by key, to be compared with what Redis holds for each key. */
final class Ledger {
    /** One key of one policy. */
    static final class Account {
        final Call.Kind kind;
        final Charge charge;
        /** Permits of calls that Redis allowed. */
        long byRedis;
        /** Those of calls that began when the fault was over. */
        long byRedisAfterwards;
        /** Permits of calls that the failure mode answered, or that ended in an exception: Redis may have counted them. */
        long unknown;
        /** Permits that the instances' shares admitted. */
        long byShare;
        /** Calls that Redis denied. */
        long denied;

        /** What Redis holds as used, by the limits of the policy with the most and the least. */
        long mostUsed = -1;

        long leastUsed = -1;

        /** The members of each of these sums; one that comes again costs nothing. */
        private final Set<List<Object>> members = new HashSet<>();

        private Account(Call.Kind kind, Charge charge) {
            this.kind = kind;
            this.charge = charge;
        }

        private long permits(String sum, Charge one) {
            return one.member() == null || members.add(List.of(sum, one.member())) ? one.permits() : 0;
        }

        /** How many more permits Redis holds than all calls together that it can have counted. */
        long countedTwice() {
            return Math.max(0, mostUsed - byRedis - unknown);
        }

        /** How many permits Redis gave that it does not hold. */
        long missing(boolean losesState) {
            return Math.max(0, (losesState ? byRedisAfterwards : byRedis) - leastUsed);
        }

        /** Permits that Redis counted, and whose callers were answered by the failure mode. */
        long countedLate() {
            return Math.max(0, mostUsed - byRedis);
        }

        /** Whether Redis denied a call although the key had room: nothing is ever given back. */
        boolean isDeniedWrongly(long limit, boolean losesState) {
            return denied > 0 && (kind != Call.Kind.NARROW || !losesState && leastUsed < limit);
        }
    }

    private final long endNanos;
    private final Map<String, Account> accounts = new LinkedHashMap<>();

    /** Of these calls, with a fault that was over then. */
    Ledger(List<Call> calls, long endNanos) {
        this.endNanos = endNanos;
        // Of what was reset, Redis holds nothing to compare; see Blocks of the others.
        calls.stream()
                .filter(call -> call.kind() != Call.Kind.AGAIN && call.kind() != Call.Kind.BLOCKED)
                .forEach(this::enter);
    }

    static String name(Charge charge) {
        return charge.policy().name() + " " + charge.key().canonical();
    }

    Collection<Account> accounts() {
        return accounts.values();
    }

    /** The account of the charge. */
    Account account(Charge charge) {
        Account account = accounts.get(name(charge));
        if (account == null) {
            throw new AssertionError("nobody asked for " + charge);
        }
        return account;
    }

    /** Whether a call of several charges was counted for some of them alone. */
    boolean isTornApart(Call call) {
        if (call.kind() != Call.Kind.PAIR) {
            return false;
        }
        long parts = call.charges().stream()
                .filter(charge -> account(charge).mostUsed > 0)
                .count();
        return parts != 0 && parts != call.charges().size();
    }

    private void enter(Call call) {
        for (Charge charge : call.charges()) {
            Account account = accounts.computeIfAbsent(name(charge), name -> new Account(call.kind(), charge));
            if (!call.isByRedis()) {
                account.unknown += account.permits("unknown", charge);
            } else if (!call.isAllowed()) {
                account.denied++;
            } else {
                account.byRedis += account.permits("by Redis", charge);
                if (call.startNanos() >= endNanos) {
                    account.byRedisAfterwards += account.permits("afterwards", charge);
                }
            }
            if (call.isAllowed()
                    && call.decision() != null
                    && call.decision().source() == Decision.Source.LOCAL_FALLBACK) {
                account.byShare += account.permits("by share", charge);
            }
        }
    }
}
