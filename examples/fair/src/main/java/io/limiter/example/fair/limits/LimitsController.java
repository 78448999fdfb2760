package io.limiter.example.fair.limits;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The four limiters, and the scenario of the front page. */
@RestController
@RequestMapping("/api/limits")
class LimitsController {
    private final FourLimits limits;

    LimitsController(FourLimits limits) {
        this.limits = limits;
    }

    /** A number of calls at once. */
    record Rush(String visitor, int calls) {}

    @GetMapping
    List<FourLimits.State> look(@RequestParam String visitor) {
        return limits.look(visitor);
    }

    @PostMapping("/rush")
    List<FourLimits.State> rush(@RequestBody Rush rush) {
        return limits.calls(rush.visitor(), rush.calls());
    }

    @PostMapping("/evening")
    List<FourLimits.Vote> evening() {
        return limits.evening();
    }
}
