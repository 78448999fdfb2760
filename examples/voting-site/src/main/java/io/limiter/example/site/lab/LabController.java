package io.limiter.example.site.lab;

import io.limiter.application.Limiter;
import io.limiter.example.site.ExpectedBody;
import io.limiter.example.site.Instance;
import io.limiter.spring.RateLimited;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * The laboratory over HTTP. It is limited itself: requests by {@code limiter.rules} in application.yml, started
 * traffic by the annotation below.
 */
@RestController
@RequestMapping("/api/lab")
public class LabController {
    /** Limits as they are sent. */
    record WantedLimits(
            @Nullable Long permits,
            @Nullable Long periodMillis,
            @Nullable Long burst) {}

    private final Laboratory laboratory;
    private final Visitors visitors;
    private final Instance instance;
    private final Limiter limiter;

    LabController(Laboratory laboratory, Visitors visitors, Instance instance, Limiter limiter) {
        this.laboratory = laboratory;
        this.visitors = visitors;
        this.instance = instance;
        this.limiter = limiter;
    }

    /** The events after the call of that number. */
    @GetMapping
    public LabView view(
            @RequestParam(defaultValue = "0") long round,
            @RequestParam(defaultValue = "0") long after,
            HttpServletRequest request,
            HttpServletResponse response) {
        return view(visitor(request, response), round, after);
    }

    /** Starts traffic, replacing that in progress. Its cost is the number of its calls. */
    @PostMapping("/traffic")
    @ResponseStatus(HttpStatus.ACCEPTED)
    @RateLimited(value = "lab-calls", permits = "#traffic.calls()")
    @ExpectedBody("a JSON object whose numbers are whole, such as"
            + " {\"steps\":[{\"atMillis\":0,\"calls\":60,\"overMillis\":2000}]}")
    public LabView start(@RequestBody Traffic traffic, HttpServletRequest request, HttpServletResponse response) {
        Visitor visitor = visitor(request, response);
        laboratory.start(visitor, traffic);
        return view(visitor, 0, 0);
    }

    /** Stops the traffic in progress. */
    @DeleteMapping("/traffic")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    public void stop(HttpServletRequest request, HttpServletResponse response) {
        visitor(request, response).replaceRun(null);
    }

    /** Sets the limits of this visitor's laboratory. */
    @PutMapping("/limits")
    @ExpectedBody("a JSON object whose numbers are whole, such as {\"permits\":10,\"periodMillis\":5000,\"burst\":10}")
    public LabView set(@RequestBody WantedLimits wanted, HttpServletRequest request, HttpServletResponse response) {
        LabLimits limits = LabLimits.of(wanted.permits(), wanted.periodMillis(), wanted.burst());
        LabCookies.setLimits(request, response, limits);
        Visitor visitor = visitor(request, response);
        visitor.under(limits);
        return view(visitor, 0, 0);
    }

    /** Resets the laboratory: nothing used, nothing drawn. */
    @PostMapping("/clear")
    public LabView clear(HttpServletRequest request, HttpServletResponse response) {
        Visitor visitor = visitor(request, response);
        laboratory.afresh(visitor);
        return view(visitor, 0, 0);
    }

    private LabView view(Visitor visitor, long round, long after) {
        return LabView.of(
                instance,
                laboratory.nowMillis(),
                visitor.since(round, after),
                visitor.limits(),
                laboratory.look(visitor));
    }

    private Visitor visitor(HttpServletRequest request, HttpServletResponse response) {
        String id = LabCookies.visitor(request).orElseGet(() -> LabCookies.newVisitor(request, response));
        LabLimits limits = LabCookies.limits(request)
                .orElseGet(() -> LabLimits.like(limiter.policy("vote").limits().get(0)));
        return visitors.visitor(id, limits);
    }
}
