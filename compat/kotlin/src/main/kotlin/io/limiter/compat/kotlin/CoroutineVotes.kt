package io.limiter.compat.kotlin

import io.limiter.spring.RateLimited
import kotlinx.coroutines.delay
import org.springframework.http.HttpStatus
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException

/** A controller of WebFlux whose handlers are coroutines. */
@RestController
open class CoroutineVotes {
    @GetMapping("/vote")
    open suspend fun vote(): String {
        delay(1)
        return "thank you"
    }

    @GetMapping("/annotated")
    @RateLimited(limits = "2/1h", key = "#name")
    open suspend fun annotated(@RequestParam(defaultValue = "ann") name: String): String {
        delay(1)
        return name
    }

    @GetMapping("/missing")
    open suspend fun missing(): String {
        delay(1)
        throw ResponseStatusException(HttpStatus.NOT_FOUND)
    }
}
