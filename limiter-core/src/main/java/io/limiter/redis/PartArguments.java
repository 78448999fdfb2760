package io.limiter.redis;

import io.limiter.Charge;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.LimitSpec;
import io.limiter.internal.Terms;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The arguments of one limit in a command, as the scripts read them. */
final class PartArguments {
    /** The number of the argument behind the words of a single limit. */
    private static final String OWN_BEHIND_WORDS = "10";

    private PartArguments() {}

    /** Whether its numbers are all that has to be sent. */
    static boolean isPlain(Call.Part part) {
        return part.isCombinable() && part.limit().spec().terms() == null && !part.isHeld() && !isInFlight(part);
    }

    private static boolean isInFlight(Call.Part part) {
        return part.limit().spec().algorithm().isInFlight();
    }

    /** The number under which a state counts what this instance has in flight; 0 for none. */
    static long instance(Call.Part part) {
        return part.flight() == null ? 0 : part.flight().number;
    }

    /** What distinguishes it from others of the same form: the hold, or what this instance has in flight. */
    static void addOwn(List<Object> arguments, Call.Part part) {
        Held hold = part.hold();
        FlightEntry flight = part.flight();
        if (flight != null) {
            flight.addTo(arguments, part);
        } else if (isInFlight(part)) {
            arguments.add("0");
        } else if (hold != null && Held.isNamed(part)) {
            arguments.add(hold.id());
            if (hold.isSettlement()) {
                arguments.add(Long.toHexString(Long.parseLong(part.mode().substring(Call.BACK.length()))));
                arguments.add(Long.toHexString(hold.actual()));
            }
        }
    }

    static void addNumbers(List<Object> arguments, Call.Part part, @Nullable TimeSource time) {
        LimitSpec spec = part.limit().spec();
        Terms terms = spec.terms();
        long period = terms == null ? spec.periodMicros() : terms.periodMicros(spec.periodMicros(), unixMicros(time));
        for (long number : new long[] {part.charge().permits(), spec.permits(), period, spec.burst()}) {
            arguments.add(Long.toString(number));
        }
    }

    /** What distinguishes calls to a state (members, or request ids), the mode, the request id beside a member, and options. */
    static void addWords(List<Object> arguments, Call.Part part, boolean inForm, @Nullable TimeSource time) {
        Charge charge = part.charge();
        boolean takesMembers = part.limit().spec().algorithm().takesMembers();
        String request = charge.requestId() == null
                ? ""
                : PartitionKey.of(charge.requestId()).canonical();
        arguments.add(isInFlight(part) ? Long.toString(instance(part)) : takesMembers ? charge.memberText() : request);
        arguments.add((inForm ? Held.modeOfForm(part) : part.mode())
                .replace(Call.KEEP, Call.BACK)
                .replace(Call.RENEW, Call.BACK + 0));
        Held hold = inForm ? null : part.hold();
        String name = hold != null ? hold.id() : part.mode().equals(Call.RENEW) ? "renew" : "";
        arguments.add(takesMembers ? request : name);
        arguments.add(options(part, inForm, time));
    }

    private static String options(Call.Part part, boolean inForm, @Nullable TimeSource time) {
        LimitSpec spec = part.limit().spec();
        Terms terms = spec.terms();
        String options = terms == null ? "" : terms.options(unixMicros(time));
        if (spec.algorithm() == Algorithm.BLOCK) {
            // It does not count calls in flight, which stand first.
            long others = part.charge().policy().limits().stream()
                    .filter(limit -> limit.spec().algorithm().isQuota()
                            && !limit.spec().algorithm().isInFlight())
                    .count();
            return options + ",of=" + others + (part.denied() == 0 ? "" : ",denied=" + part.denied());
        }
        if (isInFlight(part)) {
            return inForm ? "" : OWN_BEHIND_WORDS;
        }
        if (part.isHeld()) {
            Held hold = part.hold();
            options += (options.isEmpty() ? "" : ",") + "holds="
                    + part.charge().policy().holds() + (hold == null ? "" : hold.terms());
        }
        return part.mode().startsWith(Call.KEEP) ? options + ",keep" : options;
    }

    private static long unixMicros(@Nullable TimeSource time) {
        return (time == null ? TimeSource.system() : time).unixMicros();
    }
}
