package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.rule.Rule;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.match.MatchableRequest;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request at one of the times that the container brings it to the filter: at first, by a FORWARD, by an ASYNC dispatch. Used
 * by the one thread that has the request.
 */
final class Dispatch {
    private final HttpServletRequest request;
    private final MatchableRequest matchable;
    private final ClientAddressResolver clients;
    private final Object owner;
    private @Nullable ClientAddress client;
    private @Nullable RequestCharges charges;

    /**
     * A dispatch.
     *
     * @param owner for whom the request remembers what it was charged
     */
    Dispatch(HttpServletRequest request, MatchableRequest matchable, ClientAddressResolver clients, Object owner) {
        this.request = request;
        this.matchable = matchable;
        this.clients = clients;
        this.owner = owner;
    }

    /**
     * Whether a request is dispatched for a part of a page, by an INCLUDE or by a FORWARD inside one: its answer lands inside the
     * page. Looks at the requests that the container has wrapped one into another, down to the dispatch that no FORWARD has made.
     * The attribute {@code jakarta.servlet.include.request_uri} is no evidence: Tomcat hides it from the FORWARD, and an
     * application may set it for a real one. A client can set neither. A container that does not wrap has no such
     * exemption, so the FORWARD is charged there.
     */
    static boolean isIncluded(ServletRequest request) {
        ServletRequest current = request;
        while (current.getDispatcherType() == DispatcherType.FORWARD
                && current instanceof ServletRequestWrapper outer) {
            current = outer.getRequest();
        }
        return current.getDispatcherType() == DispatcherType.INCLUDE;
    }

    /**
     * A rule that charges each request once, also when its key is another one by now, because somebody has logged in within the
     * request.
     *
     * @param identity of the rule that made a charge, the same in each configuration that has it
     */
    static Rule<Dispatch> once(Function<Charge, Object> identity, Rule<Dispatch> rule) {
        return dispatch -> {
            Charge charge = rule.charge(dispatch);
            return charge != null && dispatch.openCharges().add(identity.apply(charge)) ? charge : null;
        };
    }

    HttpServletRequest request() {
        return request;
    }

    MatchableRequest matchable() {
        return matchable;
    }

    /** Who the request comes from; found once. */
    ClientAddress client() {
        if (client == null) {
            client = clients.resolve(request);
        }
        return client;
    }

    /** What the request was charged so far; null if no rule is for this dispatch. */
    @Nullable
    RequestCharges charges() {
        return charges;
    }

    private RequestCharges openCharges() {
        if (charges == null) {
            charges = RequestCharges.of(request, owner);
            charges.begin(request, matchable.paths());
        }
        return charges;
    }
}
