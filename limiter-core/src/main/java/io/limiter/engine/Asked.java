package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import java.util.List;
import java.util.function.Consumer;

/** What a call to a policy needs, and its end. */
record Asked(Policy policy, Backend.Decider decider, CallCounts counts, Consumer<Decision> end) {
    /** Whether a call takes one charge, which its policy's decider can do. */
    static boolean isPlain(PermitRequest request) {
        List<Charge> charges = request.charges();
        return charges.size() == 1
                && charges.get(0).isPlain()
                && request.mode() == Backend.Mode.TAKE
                && !request.isShadow();
    }

    /** Whether a call takes what it gets for one charge, now or never. */
    static boolean isSingle(PermitRequest request) {
        return request.charges().size() == 1 && request.mode() == Backend.Mode.TAKE && !request.mayWait();
    }
}
