package io.limiter.example.fair.sale;

/** Where paid tickets go: to those who print them. */
public interface Orders {
    /**
     * Takes a paid order. May be called again with the same id, after a crash: the effect must be that of one call.
     *
     * @param id the order's id
     * @param visitor the name of the visitor that paid
     * @param quantity how many tickets
     */
    void paid(String id, String visitor, int quantity);
}
