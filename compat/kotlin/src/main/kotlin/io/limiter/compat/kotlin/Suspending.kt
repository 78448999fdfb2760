package io.limiter.compat.kotlin

import io.limiter.Decision
import io.limiter.spring.RateLimited
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.asCompletableFuture
import kotlinx.coroutines.yield
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.concurrent.atomic.AtomicInteger

/** An interface whose methods suspend. */
interface Generic<T> {
    suspend fun take(it: T): T
}

/** A client whose object others make. */
interface SuspendingClient {
    @RateLimited(limits = "2/1h", key = "#user", fallback = "instead")
    suspend fun call(user: String): String

    suspend fun instead(user: String): String = "instead"

    @RateLimited(limits = "2/1h", key = "#user", name = "other")
    suspend fun other(user: String): String
}

/** Limited coroutines. */
open class Suspending : Generic<String> {
    private val gate = CompletableDeferred<Unit>()
    private val running = AtomicInteger()
    private val most = AtomicInteger()
    private val begun = AtomicInteger()
    private val ended = AtomicInteger()

    open fun running() = running.get()

    open fun most() = most.get()

    open fun begun() = begun.get()

    open fun ended() = ended.get()

    open fun open() = gate.complete(Unit)

    @RateLimited(limits = "2/1h", key = "#user")
    open suspend fun rate(user: String): String {
        delay(1)
        return user
    }

    @RateLimited(limits = "2/1h", key = "#user")
    open suspend fun nothing(user: String) {
        delay(1)
    }

    @RateLimited(limits = "2 concurrent", key = "global")
    open suspend fun concurrent(): Int {
        most.accumulateAndGet(running.incrementAndGet(), Math::max)
        try {
            gate.await()
            return 1
        } finally {
            running.decrementAndGet()
        }
    }

    @RateLimited(limits = "1 concurrent", key = "global")
    open suspend fun forever(): Int {
        begun.incrementAndGet()
        try {
            awaitCancellation()
        } finally {
            ended.incrementAndGet()
        }
    }

    @RateLimited(limits = "2/1h", key = "global", refundOn = [IllegalStateException::class])
    open suspend fun refunded(): String {
        delay(1)
        throw IllegalStateException("failed")
    }

    @RateLimited(limits = "10/1h fixed", key = "global", permits = "5", settle = "#result.length()")
    open suspend fun settled(): String {
        delay(1)
        return "1"
    }

    @RateLimited(limits = "2/1h", key = "#user", fallback = "instead")
    open suspend fun withFallback(user: String): String = user

    private suspend fun instead(user: String, denied: Decision): String {
        delay(1)
        return "instead of $user: ${denied.allowed()} ${Thread.currentThread().name}"
    }

    @RateLimited(limits = "2/1h", key = "#user", fallback = "plainly")
    open suspend fun withPlainFallback(user: String): String = user

    private fun plainly(user: String): String = "instead"

    @RateLimited(limits = "2/1h", key = "#it")
    override suspend fun take(it: String): String {
        yield()
        return it
    }

    @RateLimited(limits = "2/1h", key = "#user")
    open suspend fun flow(user: String): Flow<String> {
        delay(1)
        return flowOf(user, user)
    }
}

/** Runs coroutines for tests in Java. */
object Coroutines {
    @JvmStatic
    fun run(executor: Executor, bean: Suspending, name: String): CompletableFuture<Any?> = on(executor) {
        when (name) {
            "rate" -> bean.rate("ann")
            "nothing" -> bean.nothing("ann")
            "concurrent" -> bean.concurrent()
            "forever" -> bean.forever()
            "refunded" -> bean.refunded()
            "settled" -> bean.settled()
            "withFallback" -> bean.withFallback("ann")
            "withPlainFallback" -> bean.withPlainFallback("ann")
            "take" -> bean.take("ann")
            "generic" -> (bean as Generic<String>).take("ann")
            "flow" -> bean.flow("ann").toList()
            else -> throw IllegalArgumentException(name)
        }
    }

    @JvmStatic
    fun run(executor: Executor, client: SuspendingClient, other: Boolean): CompletableFuture<Any?> = on(executor) {
        if (other) client.other("ann") else client.call("ann")
    }

    private fun on(executor: Executor, block: suspend () -> Any?): CompletableFuture<Any?> {
        val job: Deferred<Any?> = CoroutineScope(executor.asCoroutineDispatcher()).async { block() }
        return job.asCompletableFuture()
    }
}
