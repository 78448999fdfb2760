package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The arguments of one limit in a command, as the scripts read them. */
final class PartArguments {
    private PartArguments() {}

    /** Whether its numbers are all that has to be sent to a script for one limit. */
    static boolean isPlain(Call.Part part) {
        return part.isCombinable() && !part.limit().hasOptions() && !part.isInFlight();
    }

    /** The id of a call in flight; empty for one that holds nothing. */
    private static String flight(Call.Part part) {
        return part.flight() == null ? "" : part.flight().id;
    }

    /** What distinguishes it from others of the same form: the hold, or the call in flight. */
    static void addOwn(List<Object> arguments, Call.Part part) {
        Held hold = part.hold();
        if (part.isInFlight()) {
            arguments.add(flight(part));
        } else if (hold != null && Held.isNamed(part)) {
            arguments.add(hold.id());
            if (hold.isSettlement()) {
                arguments.add(Long.toHexString(Long.parseLong(part.mode().substring(Call.BACK.length()))));
                arguments.add(Long.toHexString(hold.actual()));
            }
        }
    }

    static void addNumbers(List<Object> arguments, Call.Part part, @Nullable TimeSource time) {
        Limit limit = part.limit();
        long period = limit.hasOptions() ? limit.periodMicros(unixMicros(time)) : limit.periodMicros();
        for (long number : new long[] {part.charge().permits(), limit.permits(), period, limit.burst()}) {
            arguments.add(Long.toString(number));
        }
    }

    /** What distinguishes calls to a state (members, ids), the mode, the request id beside a member or how it is done, and options. */
    static void addWords(List<Object> arguments, Call.Part part, boolean inForm, @Nullable TimeSource time) {
        Charge charge = part.charge();
        boolean takesMembers = part.limit().algorithm().takesMembers();
        String request = charge.requestId() == null
                ? ""
                : PartitionKey.of(charge.requestId()).canonical();
        Held hold = inForm ? null : part.hold();
        String id = hold != null ? hold.id() : takesMembers ? charge.memberText() : request;
        arguments.add(part.isInFlight() ? inForm ? "" : flight(part) : id);
        boolean isRenewal = part.mode().equals(Call.RENEW);
        boolean isOption = isRenewal || part.mode().equals(Call.AGAIN);
        String mode = inForm ? Held.modeOfForm(part) : part.mode();
        arguments.add(isRenewal ? Call.END : isOption ? Call.TAKE : mode.replace(Call.KEEP, Call.BACK));
        String how = isOption ? part.mode() : hold != null && hold.isSettlement() ? Long.toString(hold.actual()) : "";
        arguments.add(takesMembers ? request : how);
        arguments.add(options(part, time));
        if (part.keepsHolds()) {
            Held terms = part.hold();
            arguments.add(Integer.toString(part.charge().policy().holds()));
            arguments.add(terms == null ? "" : Long.toString(terms.ttlMicros()));
            arguments.add(terms == null ? "" : Long.toString(terms.keepMicros()));
        }
    }

    private static String options(Call.Part part, @Nullable TimeSource time) {
        String options = part.limit().hasOptions() ? part.limit().options(unixMicros(time)) : "";
        if (!part.limit().algorithm().isQuota()) {
            // It does not count calls in flight, which stand first.
            long others = part.charge().policy().limits().stream()
                    .filter(limit ->
                            limit.algorithm().isQuota() && !limit.algorithm().isInFlight())
                    .count();
            return options + ",of=" + others;
        }
        return part.mode().startsWith(Call.KEEP) ? options + ",keep" : options;
    }

    private static long unixMicros(@Nullable TimeSource time) {
        return (time == null ? TimeSource.system() : time).unixMicros();
    }
}
