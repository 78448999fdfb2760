import io.limiter.Charge
import io.limiter.Limit
import io.limiter.LimitOutcome
import io.limiter.PartitionKey
import io.limiter.Policy
import io.limiter.rule.KeyResolver
import io.limiter.spring.RateLimitExceededException

fun nullableResult(outcome: LimitOutcome): String = outcome.reason().name // wrong
fun nullableReturned(policy: Policy): Limit = policy.penalty() // wrong
fun nullGiven(): PartitionKey = PartitionKey.of(null as String?) // wrong
fun nullInRecord(key: PartitionKey): Charge = Charge(null, key, 1) // wrong
fun nullReturned(): KeyResolver<String> = KeyResolver { null } // wrong
fun nullInSpring(): Throwable = RateLimitExceededException(null) // wrong
fun allowed(key: PartitionKey, policy: Policy): Charge = Charge(policy, key, 1, null)
