package io.limiter.compat.kotlin

import kotlinx.coroutines.delay
import org.springframework.http.HttpStatus
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException

/** A controller of WebFlux whose handlers are coroutines. */
@RestController
class CoroutineVotes {
    @GetMapping("/vote")
    suspend fun vote(): String {
        delay(1)
        return "thank you"
    }

    @GetMapping("/missing")
    suspend fun missing(): String {
        delay(1)
        throw ResponseStatusException(HttpStatus.NOT_FOUND)
    }
}
