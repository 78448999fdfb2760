package io.limiter.faults;

import java.io.IOException;

/** The servers of one trial. Closing it ends them. */
interface Stage extends AutoCloseable {
    /** How the instances reach Redis, as properties text. */
    String way();

    /** How the auditor reaches it: past every wire, with every right. */
    String auditorsWay();

    /** Whether all charges of a call are decided by one script. */
    default boolean decidesAtOnce() {
        return true;
    }

    @Override
    void close() throws IOException;
}
