package io.limiter.compat.kotlin

import io.limiter.Charge
import io.limiter.Decision
import io.limiter.Limit
import io.limiter.LimitOutcome
import io.limiter.application.Limiter
import io.limiter.PartitionKey
import io.limiter.PermitRequest
import io.limiter.Policy
import io.limiter.config.LimiterConfig
import io.limiter.rule.KeyResolver
import io.limiter.servlet.rejection.RejectionHandler
import io.limiter.spring.RateLimitExceededException
import io.limiter.spring.RateLimited
import java.time.Duration

/** What an application writes in Kotlin. It compiles without warnings: each `?` here is an annotation in a jar. */
open class Votes(private val limiter: Limiter) {
    /** How long to wait; null if the vote counts. */
    fun vote(user: String, requestId: String?): Duration? {
        val charge = Charge(policy(), keyOf.resolve(user), 1, requestId)
        val decision: Decision = limiter.rateLimiter().tryAcquire(PermitRequest.of(listOf(charge)))
        return if (decision.allowed()) null else decision.retryAfter().orElseThrow()
    }

    /** The name of the reason; null for one that allows. */
    fun reason(outcome: LimitOutcome): String? = outcome.reason()?.name

    fun block(policy: Policy): Limit? = policy.penalty()

    fun policy(): Policy = limiter.policy("vote")

    @RateLimited("vote")
    open fun annotated() = "voted"

    companion object {
        val keyOf: KeyResolver<String> = KeyResolver { user -> PartitionKey.of(user) }

        val rejections: RejectionHandler = RejectionHandler { _, _, response -> response.status = 429 }

        fun waitAfter(denied: RateLimitExceededException): Duration = denied.retryAfter().orElse(Duration.ZERO)

        fun start(limits: String): Limiter = Limiter.start(
            LimiterConfig.builder().property("Votes.kt", 1, "limiter.policies.vote.limits", limits).build(),
        )
    }
}
