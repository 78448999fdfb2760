package io.limiter.servlet;

import io.limiter.config.HttpSettings;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A request each time that the container brings it to the filter, as the rules see it. Used by the thread that has it. */
final class Visit {
    private final HttpServletRequest request;
    private final HttpSettings settings;
    private final Object owner;
    private final String method;
    private final List<String> paths;
    private @Nullable ClaimedMethods claimed;
    private @Nullable ClientAddress client;
    private @Nullable ChargedOnce charged;

    /**
     * A visit.
     *
     * @param owner the filter, or what several share, for which the request remembers what it was charged
     */
    Visit(HttpServletRequest request, Object owner, HttpSettings settings, Findings findings) {
        this.request = request;
        this.owner = owner;
        this.settings = settings;
        // Method names have a case (RFC 9110 section 9.1), but an application may not look at it.
        this.method = request.getMethod().toUpperCase(Locale.ROOT);
        this.paths = Readings.of(request, findings);
    }

    HttpServletRequest request() {
        return request;
    }

    /** In upper case. */
    String method() {
        return method;
    }

    /** Whether the request asks to be taken for one of another method. */
    boolean claims(Set<String> methods) {
        if (claimed == null) {
            claimed = ClaimedMethods.of(request, method, settings.methodOverride());
        }
        return claimed.claim(methods);
    }

    /** Whether the request is a CORS preflight, which no rule counts unless it lists OPTIONS. */
    boolean isPreflight() {
        return Preflight.is(request, settings.methodOverride());
    }

    /**
     * The path that the container routes by, decoded, without dots and path parameters; after it the other ones that the
     * request line could mean. The raw URI has many spellings for one servlet ({@code /vote}, {@code /%76ote},
     * {@code /vote;x}), each of which would walk around a rule.
     */
    List<String> paths() {
        return paths;
    }

    /** Who the request comes from; found once. */
    ClientAddress client(ClientAddressResolver resolver) {
        ClientAddress found = client;
        if (found == null) {
            found = resolver.resolve(request);
            client = found;
        }
        return found;
    }

    /** What the request was charged so far. */
    ChargedOnce charged() {
        ChargedOnce known = charged;
        if (known == null) {
            known = ChargedOnce.of(request, owner);
            known.begin(this);
            charged = known;
        }
        return known;
    }

    /** Ends a visit that no rule charges. */
    void passUncharged() {
        if (charged != null) {
            charged.allow();
        }
    }
}
