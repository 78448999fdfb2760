package io.limiter.spring.boot.actuate;

import io.limiter.BackendException;
import io.limiter.application.Limiter;
import io.limiter.control.Control;
import io.limiter.control.Words;
import java.security.Principal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
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
class ControlEndpoint {
    private static final int AUDITED = 50;

    private final Limiter limiter;

    ControlEndpoint(Limiter limiter) {
        this.limiter = limiter;
    }

    /** What is published and in force. */
    @ReadOperation
    public WebEndpointResponse<Object> state() {
        return answer(control -> new JsonObject()
                .with("version", control.current().version())
                .with(
                        "versions",
                        control.versions().stream()
                                .map(ControlEndpoint::version)
                                .toList())
                .with("instances", control.instances())
                .with("entries", control.entries())
                .with("changes", control.audit(AUDITED))
                .with("origins", limiter.config().origins())
                .with("findings", limiter.rateLimiter().monitor().health().findings()));
    }

    private static JsonObject version(Control.Version one) {
        return new JsonObject()
                .with("version", one.version())
                .with("time", one.time().toString())
                .with("author", one.author())
                .with("note", one.note())
                .with("text", one.text());
    }

    /**
     * Changes something.
     *
     * @param action {@code publish} (text, version: the one that was seen), {@code roll-back} (version), {@code override} (policy, key,
     *     kind, limits, until), {@code remove-override} (policy, key), {@code switch} (target, kind, until), {@code remove-switch}
     *     (target)
     * @param kind {@code limits}, {@code unlimited}, {@code blocked}; {@code off}, {@code shadow}, {@code deny}
     * @param until in ISO 8601
     */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            String action,
            @org.springframework.lang.Nullable @Nullable String text,
            @org.springframework.lang.Nullable @Nullable Long version,
            @org.springframework.lang.Nullable @Nullable String policy,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable String kind,
            @org.springframework.lang.Nullable @Nullable String limits,
            @org.springframework.lang.Nullable @Nullable String target,
            @org.springframework.lang.Nullable @Nullable String until,
            @org.springframework.lang.Nullable @Nullable String note,
            SecurityContext security) {
        Principal user = security.getPrincipal();
        String author = user == null ? "actuator" : user.getName();
        String why = note == null ? "" : note;
        return answer(control -> switch (action) {
            case "publish" ->
                Map.of("version", control.publish(needed("text", text), author, why, needed("version", version)));
            case "roll-back" -> Map.of("version", control.rollBack(needed("version", version), author, why));
            case "override" -> {
                String name = needed("policy", policy);
                List<String> notes = control.notes(name, limits == null ? "" : limits);
                control.override(
                        name,
                        Words.key(needed("key", key)),
                        needed("kind", kind),
                        limits == null ? "" : limits,
                        time(until),
                        author,
                        why);
                yield Map.of("notes", notes);
            }
            case "remove-override" ->
                Map.of(
                        "removed",
                        control.removeOverride(needed("policy", policy), Words.key(needed("key", key)), author, why));
            case "switch" -> {
                control.turn(needed("target", target), needed("kind", kind), time(until), author, why);
                yield Map.of();
            }
            case "remove-switch" -> Map.of("removed", control.removeSwitch(needed("target", target), author, why));
            default ->
                throw new IllegalArgumentException("there is no such action; write publish, roll-back, override,"
                        + " remove-override, switch or remove-switch");
        });
    }

    private static <T> T needed(String name, @Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }

    private static Instant time(@Nullable String until) {
        try {
            return Instant.parse(needed("until", until));
        } catch (DateTimeParseException wrong) {
            throw new IllegalArgumentException("until is not a time; write 2026-12-01T08:00:00Z", wrong);
        }
    }

    private WebEndpointResponse<Object> answer(Function<Control, Object> question) {
        try {
            return limiter.control()
                    .map(control -> new WebEndpointResponse<>(question.apply(control)))
                    .orElseGet(() -> new WebEndpointResponse<>(
                            error("set limiter.control.group to control this application"), 404));
        } catch (Control.ConflictException lost) {
            return new WebEndpointResponse<>(error(lost.getMessage()), 409);
        } catch (BackendException failed) {
            return new WebEndpointResponse<>(error(failed.getMessage()), 503);
        } catch (IllegalArgumentException wrong) {
            return new WebEndpointResponse<>(error(wrong.getMessage()), 400);
        }
    }

    private static Map<String, String> error(@Nullable String message) {
        return Map.of("error", String.valueOf(message));
    }
}
