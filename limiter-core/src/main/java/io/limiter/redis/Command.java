package io.limiter.redis;

import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One command to Redis: a script, its keys and its arguments. Several calls can share one, as requests of the batch script;
 * equal calls on one key, with no other on it in between, are one request with a count. A single limit uses the script
 * of its algorithm; both return the same six numbers for a limit. A form is what requests share, whatever their keys
 * and ids: limits, numbers and mode; see batch.lua.
 *
 * <p>Loops instead of streams: this is most of what a JVM has to compile before it is fast.
 *
 * @param longestMicros the longest wait of its callers
 * @param calls in the order of their requests; none if it has no calls and is wanted in any case
 * @param requests the calls of each request
 */
record Command(
        Script script,
        List<Object> keys,
        List<Object> arguments,
        long longestMicros,
        List<Call> calls,
        List<List<Call>> requests) {
    /** What follows the key of a state in that of its records. */
    private static final String RECORDS = ":holds";

    /** Gets the reply, or the reason why there is none. */
    interface Receiver {
        void accept(@Nullable List<Object> reply, @Nullable Throwable failure);
    }

    /**
     * The command of some calls, in the order in which they came.
     *
     * @param time where the time is read; null for the server's
     */
    static Command of(List<Call> calls, @Nullable TimeSource time) {
        return of(calls, time, false);
    }

    /**
     * The same for keys of several slots of one master.
     *
     * @param inCluster whether the server is told only where the command is to go, not all keys, where these have several slots
     */
    static Command of(List<Call> calls, @Nullable TimeSource time, boolean inCluster) {
        String slot = inCluster ? calls.get(0).slot() : "";
        boolean spread =
                inCluster && calls.stream().anyMatch(call -> !call.slot().equals(slot));
        List<List<Call>> requests = calls.size() == 1 ? List.of(calls) : requests(calls);
        List<Object> keys = new ArrayList<>();
        for (List<Call> request : requests) {
            for (Call.Part part : request.get(0).parts) {
                keys.add(part.key());
                if (part.hasRecords()) {
                    keys.add(part.key() + RECORDS);
                }
            }
        }
        String now = time == null ? "" : Long.toString(time.nowMicros());
        List<Object> arguments = new ArrayList<>();
        Script script = script(calls);
        if (script == Script.BATCH) {
            arguments.add(now);
            addRequests(arguments, requests, requests.size() < calls.size(), spread ? keys : List.of(), time);
        } else {
            Call.Part part = calls.get(0).parts.get(0);
            PartArguments.addNumbers(arguments, part, time);
            if (time != null || !PartArguments.isPlain(part)) {
                arguments.add(now);
                PartArguments.addWords(arguments, part, false, time);
            }
        }
        long longestMicros = 0;
        for (Call call : calls) {
            longestMicros = Math.max(longestMicros, call.longestMicros);
        }
        int declared = !spread ? keys.size() : calls.get(0).parts.get(0).hasRecords() ? 2 : 1;
        List<Call> inOrder = calls;
        if (requests.size() < calls.size()) {
            inOrder = new ArrayList<>(calls.size());
            requests.forEach(inOrder::addAll);
        }
        return new Command(script, keys.subList(0, declared), arguments, longestMicros, inOrder, requests);
    }

    /**
     * About how long a call occupies Redis, in microseconds, as WorstCasesTest measures it; for a log that may be long and a stock
     * whose holds may have run out, the worst case.
     *
     * @param before the calls of the same command: what has run out is forgotten once for each stock
     */
    static long workMicros(Call call, List<Call> before) {
        long micros = 0;
        for (Call.Part part : call.parts) {
            long permits = part.charge().permits();
            long stored = part.limit().permits();
            boolean searched = part.mode().equals(Call.RESET) || part.mode().startsWith(Call.BACK);
            micros += switch (part.limit().algorithm()) {
                case SLIDING_ZSET -> 14 + permits * 3 / 2 + stored / 64;
                case SLIDING_LIST -> 8 + permits / 8 + stored / (searched ? 20 : 150);
                case CONCURRENT -> 10 + permits * 3 / 2;
                case ALLOTMENT -> 15 + permits * 3 / 2 + (isIn(before, part.key()) ? 0 : 150);
                default -> 6;
            };
            // Records that have run out are given back in portions.
            micros += part.keepsHolds() ? 50 : 0;
        }
        return micros;
    }

    private static boolean isIn(List<Call> calls, String key) {
        return calls.stream()
                .anyMatch(
                        call -> call.parts.stream().anyMatch(part -> part.key().equals(key)));
    }

    /** As it is sent: by the hash of its script. */
    List<Object> words() {
        List<Object> words = new ArrayList<>(3 + keys.size() + arguments.size());
        words.add("EVALSHA");
        words.add(script.sha());
        words.add(Integer.toString(keys.size()));
        words.addAll(keys);
        words.addAll(arguments);
        return words;
    }

    /** Whether it has one call, or none of a caller. */
    boolean isAlone() {
        return calls.size() <= 1;
    }

    /** Whether a caller still waits. */
    boolean isWanted() {
        for (Call call : calls) {
            if (!call.isDone()) {
                return true;
            }
        }
        return calls.isEmpty();
    }

    /** What each of its calls gets: its part of the reply, or the failure. One of these too for a command without calls. */
    List<Object> replies(@Nullable List<Object> reply, @Nullable Throwable failure) {
        return failure == null ? replies(reply) : Collections.nCopies(Math.max(1, calls.size()), failure);
    }

    /** The parts of the reply, in the order of the calls: the numbers of each, or the error that prevented its decision. */
    List<Object> replies(@Nullable List<Object> reply) {
        if (reply != null && isAlone()) {
            return List.of(reply);
        }
        List<Object> replies = new ArrayList<>();
        int at = 0;
        for (List<Call> request : requests) {
            if (reply == null || at + 1 >= reply.size() || !(reply.get(at) instanceof Long count)) {
                break;
            }
            at++;
            int end = at + (count < 0 ? 1 : (int) Math.min(count, reply.size()));
            int size = Call.NUMBERS * request.get(0).parts.size();
            for (int time = 0; time < request.size(); time++) {
                if (count < 0) {
                    replies.add(RedisFailure.replied(String.valueOf(reply.get(at)), count == -1));
                } else if (end <= reply.size() && count > 0 && count % size == 0) {
                    // Each time after a denial is the same.
                    int from = Math.min(at + time * size, end - size);
                    replies.add(reply.subList(from, from + size));
                }
            }
            at = end;
        }
        return reply != null && at == reply.size() && replies.size() == calls.size()
                ? replies
                : Collections.nCopies(calls.size(), RedisFailure.misread("a script did not reply to each request"));
    }

    /** Calls become one request if they have the same form and key, with no other call on that key in between. */
    private static List<List<Call>> requests(List<Call> calls) {
        List<List<Call>> requests = new ArrayList<>();
        Map<String, List<Call>> latest = new HashMap<>();
        for (Call call : calls) {
            List<Call> request = latest.get(call.parts.get(0).key());
            if (request == null || !isAgain(request, call, latest)) {
                request = new ArrayList<>(1);
                requests.add(request);
                for (Call.Part part : call.parts) {
                    latest.put(part.key(), request);
                }
            }
            request.add(call);
        }
        return requests;
    }

    /** Whether a call repeats a request, of which each key was not used by another request since. */
    private static boolean isAgain(List<Call> request, Call call, Map<String, List<Call>> latest) {
        Call first = request.get(0);
        boolean again = haveOneForm(first, call);
        for (int i = 0; again && i < call.parts.size(); i++) {
            Call.Part part = call.parts.get(i);
            Call.Part before = first.parts.get(i);
            again = part.isCombinable() && part.key().equals(before.key()) && latest.get(part.key()) == request;
        }
        return again;
    }

    /** Whether they differ only in their keys, and in what follows the form. */
    private static boolean haveOneForm(Call one, Call two) {
        boolean equal = one.parts.size() == two.parts.size();
        for (int i = 0; equal && i < one.parts.size(); i++) {
            Call.Part part = one.parts.get(i);
            Call.Part otherPart = two.parts.get(i);
            boolean hasOwn = part.hold() != null || part.isInFlight();
            boolean isShared = hasOwn
                    ? Held.haveOneForm(part, otherPart)
                    : otherPart.hold() == null && part.isCombinable() && otherPart.isCombinable();
            equal = isShared
                    && part.charge().permits() == otherPart.charge().permits()
                    && part.charge().policy().holds()
                            == otherPart.charge().policy().holds()
                    && part.limit().equals(otherPart.limit());
        }
        return equal;
    }

    /**
     * Adds the forms and the requests, as batch.lua reads them.
     *
     * @param isCounted whether a request has several calls
     * @param names all keys, where the command can't declare them; else empty
     */
    private static void addRequests(
            List<Object> arguments,
            List<List<Call>> requests,
            boolean isCounted,
            List<Object> names,
            @Nullable TimeSource time) {
        List<Call> forms = new ArrayList<>();
        List<Integer> formOf = new ArrayList<>();
        int countAt = arguments.size();
        if (!names.isEmpty()) {
            arguments.add(Integer.toString(names.size()));
            arguments.addAll(names);
        }
        for (List<Call> request : requests) {
            Call call = request.get(0);
            int form = 0;
            while (form < forms.size() && !haveOneForm(forms.get(form), call)) {
                form++;
            }
            if (form == forms.size()) {
                forms.add(call);
                addForm(arguments, call, time);
            }
            formOf.add(form + 1);
        }
        arguments.add(countAt, Integer.toString(names.isEmpty() ? forms.size() : -forms.size()));
        boolean isListed = forms.size() > 1 || isCounted;
        for (int i = 0; i < requests.size(); i++) {
            Call call = requests.get(i).get(0);
            if (isListed) {
                arguments.add(Integer.toString(formOf.get(i)));
                boolean isNamed = false;
                for (Call.Part part : call.parts) {
                    isNamed |= Held.isNamed(part);
                }
                if (!isNamed) {
                    arguments.add(Integer.toString(requests.get(i).size()));
                }
            }
            for (Call.Part part : call.parts) {
                PartArguments.addOwn(arguments, part);
            }
        }
    }

    /** A number of limits below 0 means that each also has ids, a mode and options. */
    private static void addForm(List<Object> arguments, Call call, @Nullable TimeSource time) {
        boolean plain = true;
        for (Call.Part part : call.parts) {
            plain &= PartArguments.isPlain(part) && !part.keepsHolds();
        }
        arguments.add(Integer.toString(plain ? call.parts.size() : -call.parts.size()));
        for (Call.Part part : call.parts) {
            arguments.add(part.limit().algorithm().text() + (part.keepsHolds() ? "+holds" : ""));
            PartArguments.addNumbers(arguments, part, time);
            if (!plain) {
                PartArguments.addWords(arguments, part, true, time);
            }
        }
    }

    /** The script of one algorithm suffices for a single limit, except for {@link Call#SEE} and reset. */
    private static Script script(List<Call> calls) {
        List<Call.Part> parts = calls.get(0).parts;
        String mode = parts.get(0).mode();
        boolean isBatch = calls.size() > 1
                || parts.size() > 1
                || mode.equals(Call.SEE)
                || mode.equals(Call.ASK)
                || mode.equals(Call.RESET);
        return isBatch
                ? Script.BATCH
                : Script.alone(parts.get(0).limit().algorithm(), parts.get(0).keepsHolds());
    }
}
