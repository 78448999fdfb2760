package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import io.limiter.application.Limiter;
import io.limiter.control.Command;
import io.limiter.control.Control;
import java.security.Principal;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * The endpoint {@code ratelimitcontrol}: shows what is published for the group of this application, which instance runs it, overrides
 * and switches; and changes them, only where {@code management.endpoint.ratelimitcontrol.access = unrestricted}. Over HTTP: 404
 * without a group, 400 for what is wrong, 409 if somebody else published at the same time, 503 if Redis does not answer or permit
 * it. Thread-safe.
 */
@WebEndpoint(id = "ratelimitcontrol", defaultAccess = Access.READ_ONLY)
record ControlEndpoint(Limiter limiter) {
    /** What is published and in force. */
    @ReadOperation
    public WebEndpointResponse<Object> state() {
        return answer(control -> new Reports.JsonObject()
                .with("version", control.version())
                .with("versions", control.versions(50))
                .with("instances", control.instances())
                .with("entries", control.entries())
                .with("origins", limiter.config().origins())
                .with("findings", limiter.rateLimiter().monitor().health().findings()));
    }

    /**
     * Runs a command of the command line.
     *
     * @param command as it is written there; a value with spaces in quotes
     * @param text that {@code publish} publishes
     */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            String command, @org.springframework.lang.Nullable @Nullable String text, SecurityContext security) {
        Principal user = security.getPrincipal();
        return answer(control ->
                Command.of(command).run(control, text == null ? "" : text, user == null ? "actuator" : user.getName()));
    }

    private WebEndpointResponse<Object> answer(Function<Control, Object> question) {
        Control control = Control.of(limiter).orElse(null);
        if (control == null) {
            return RateLimitsEndpoint.failure(404, "set limiter.control.group to control this application");
        }
        try {
            return new WebEndpointResponse<>(question.apply(control));
        } catch (Control.ConflictException lost) {
            return RateLimitsEndpoint.failure(409, lost.getMessage());
        } catch (BackendException failed) {
            return RateLimitsEndpoint.failure(503, failed.getMessage());
        } catch (IllegalArgumentException wrong) {
            return RateLimitsEndpoint.failure(400, wrong.getMessage());
        }
    }
}
