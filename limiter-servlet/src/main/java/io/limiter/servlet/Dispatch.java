package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.RateLimiter;
import io.limiter.address.IpAddress;
import io.limiter.address.IpNetwork;
import io.limiter.config.Callers;
import io.limiter.config.LimiterConfig;
import io.limiter.rule.RuleSet;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.match.MatchableRequest;
import io.limiter.servlet.match.RequestPaths;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One dispatch of a request to the filter: the first one, a FORWARD, an ASYNC dispatch. Used
 * by the one thread that has the request.
 */
final class Dispatch extends MatchableRequest implements Supplier<ClientAddress> {
    private static final int SUBSCRIBER_BITS = 64;

    private final ClientAddressResolver clients;
    private final Callers exempt;
    private final RateLimiter owner;
    private final boolean settles;
    private final boolean plansLater;
    private @Nullable Boolean isExempt;
    private @Nullable Boolean isSure;
    private @Nullable ClientAddress client;
    private @Nullable RequestCharges charges;
    private List<Wait> waits = List.of();
    private List<Planned> planned = List.of();

    /** How long a request may wait that a rule denies. */
    private record Wait(Charge charge, Duration longest) {}

    /**
     * A charge that needs a plan, which is looked up first.
     *
     * @param lookup begins the lookup
     * @param charge makes it when the lookup has ended; null if it is not due any more
     */
    record Planned(boolean isShadow, Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {}

    /**
     * A dispatch.
     *
     * @param config selects the method that counts, and callers that no rule counts
     * @param owner the limiter that the request's charges belong to
     * @param settles whether a rule may give back what it has charged
     * @param plansLater whether charges whose plans must be looked up are collected; else the rules wait for them
     */
    Dispatch(
            HttpServletRequest request,
            RequestPaths paths,
            LimiterConfig config,
            ClientAddressResolver clients,
            RateLimiter owner,
            boolean settles,
            boolean plansLater) {
        super(request, paths, config.http().methodOverride());
        this.clients = clients;
        this.exempt = config.callers().exempt();
        this.owner = owner;
        this.settles = settles;
        this.plansLater = plansLater;
    }

    /**
     * Whether a request is dispatched for a part of a page, by an INCLUDE or by a FORWARD inside one: its answer lands inside the
     * page. Checks the requests that the container has nested, down to the dispatch that was not a FORWARD.
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

    @Override
    public boolean isSample() {
        return RequestSample.isOf(request());
    }

    /** The address of the client; found once. */
    @Override
    public ClientAddress get() {
        if (client == null) {
            client = clients.resolve(request());
        }
        return client;
    }

    /** Whether no rule counts the caller. */
    boolean isExempt() {
        if (isExempt == null) {
            isExempt = isFrom(exempt);
        }
        return isExempt;
    }

    /** Whether it certainly comes from one of these callers. */
    boolean isFrom(Callers callers) {
        return (isIn(callers.addresses()) && isSure()) || isByUserOf(callers);
    }

    /** Checks the headers once, however many rules have exemptions. */
    private boolean isSure() {
        if (isSure == null) {
            isSure = clients.isSure(get(), request());
        }
        return isSure;
    }

    private boolean isByUserOf(Callers callers) {
        if (!callers.needUser()) {
            return false;
        }
        Principal user = request().getUserPrincipal();
        return user != null
                && ((user.getName() != null && callers.users().contains(user.getName()))
                        || callers.roles().stream().anyMatch(request()::isUserInRole));
    }

    /** Whether it comes from one of these networks, whatever address a component before the filter has read for it. */
    boolean isDeniedBy(List<IpNetwork> networks) {
        return isIn(networks)
                || clients.hiddenPeer(request())
                        .filter(peer -> networks.stream().anyMatch(network -> network.contains(peer)))
                        .isPresent();
    }

    /** Whether the client's address is in one of these networks: the address itself, and not the network that its key has. */
    boolean isIn(List<IpNetwork> networks) {
        IpAddress address = networks.isEmpty() ? null : get().address().orElse(null);
        if (address != null) {
            // Called for each rule that exempts networks, so without a stream.
            for (IpNetwork network : networks) {
                if (network.contains(address)) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Whether a rule that matches this dispatch charges the request for the first time. It charges it once, even if its
     * key has changed because of a login within the request.
     *
     * @param identity of the rule, the same in each configuration that has it
     * @param charge its charge
     * @param outcomes which responses keep the charge
     */
    boolean isNewTo(Object identity, Charge charge, RuleOutcomes outcomes) {
        return charges().add(identity, charge, outcomes, settles);
    }

    /** Records how long the rule of a charge allows the request to wait. */
    void noteWait(Charge charge, Duration longest) {
        waits = waits.isEmpty() ? new ArrayList<>(2) : waits;
        waits.add(new Wait(charge, longest));
    }

    /** How long the request may wait if a charge is denied: the shortest wait of the rules that make it. */
    Duration maxWait(Charge charge) {
        return waits.stream()
                .filter(wait -> wait.charge.isToSame(charge))
                .map(Wait::longest)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    /** Whether it may wait for one of these charges. */
    boolean mayWait(List<Charge> due) {
        return !waits.isEmpty()
                && due.stream().anyMatch(charge -> !maxWait(charge).isZero());
    }

    /** Whether what a limit denies may wait for it. */
    boolean mayWaitFor(Decision denial) {
        List<LimitOutcome> violated = denial.violated();
        return !violated.isEmpty()
                && violated.stream()
                        .allMatch(one -> one.retryAfterMicros() != LimitOutcome.NEVER
                                && one.retryAfterMicros()
                                        <= maxWait(one.charge()).toNanos() / 1_000);
    }

    /** Collects a charge that has to wait for its plan; false if the rule waits itself. */
    boolean addPlanned(Planned charge) {
        if (plansLater) {
            planned = planned.isEmpty() ? new ArrayList<>(2) : planned;
            planned.add(charge);
        }
        return plansLater;
    }

    boolean hasPlanned() {
        return !planned.isEmpty();
    }

    /** Begins the lookups of all plans. */
    CompletableFuture<?> lookUpPlans() {
        return CompletableFuture.allOf(
                planned.stream().map(one -> one.lookup.get()).toArray(CompletableFuture[]::new));
    }

    /** These charges and those whose plans were looked up: of enforced rules, or of shadow rules. */
    List<Charge> withPlanned(List<Charge> charges, boolean ofShadows) {
        List<Charge> sum = charges;
        for (Planned one : planned) {
            Charge charge = one.isShadow == ofShadows ? one.charge.get() : null;
            sum = charge == null ? sum : RuleSet.with(charge, sum);
        }
        return sum;
    }

    /** The client, for its share of what clients compete for: an IPv6 subscriber has the whole network. */
    String network() {
        return get().text(Math.min(SUBSCRIBER_BITS, get().ipv6PrefixBits()));
    }

    /** Whether a rule matches this dispatch. */
    boolean hasCharges() {
        return charges != null;
    }

    /** The charges of the request so far. */
    RequestCharges charges() {
        if (charges == null) {
            charges = RequestCharges.of(request(), owner);
            charges.begin(request(), paths());
        }
        return charges;
    }
}
