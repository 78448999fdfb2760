package io.limiter.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how often a method is called. A denied call throws {@link RateLimitExceededException}, or calls the {@link
 * #fallback}.
 *
 * <pre>{@code
 * @RateLimited("vote")                                        // the policy limiter.policies.vote
 * void vote(String choice) { ... }
 *
 * @RateLimited(limits = "1/1m, 5/1d fixed", key = "#phone")   // limits of its own
 * void sendCode(String phone) { ... }
 * }</pre>
 *
 * <p>On a class it applies to all its public methods, which share the one policy; a method's own annotations replace
 * those of its class. On an interface it applies to Spring beans that implement it, not to woven classes. Several on
 * one method are one decision: either all of them allow the call, or nothing is taken. It can be a meta-annotation on
 * your own annotation, with aliases as attributes ({@code @AliasFor(annotation = RateLimited.class)}).
 *
 * <p>Methods that return {@code CompletionStage}, {@code CompletableFuture}, {@code Mono}, {@code Flux} or {@code
 * Publisher} are decided without blocking the caller; Reactor's types at each subscription. All other methods wait for
 * the decision.
 *
 * <p>{@link #key}, {@link #member}, {@link #permits}, {@link #settle}, {@link #plan} and {@link #condition} are expressions of the Spring Expression Language. They see the
 * parameters by their names ({@code #phone}; without names in the class file {@code #p0}), beans ({@code @plans}, in a
 * Spring context), and these words: {@code ip}, {@code user} and {@code principal} of the current web request, and
 * {@code global}. They can't name types, create objects or change anything. They are parsed and checked when the bean
 * is created or, without Spring, at the first call of the method.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Repeatable(RateLimited.List.class)
public @interface RateLimited {
    /** The name of a policy of the configuration ({@code limiter.policies.<name>}). Either this or {@link #limits}. */
    String value() default "";

    /**
     * Limits in the annotation, such as {@code 3/10s sliding-list, 100/1h fixed}: the grammar of the configuration,
     * separated by
     * commas. When Redis can't answer, they are divided among the instances ({@code on-failure = local}).
     */
    String limits() default "";

    /**
     * After how many denials by {@link #limits} a key is blocked, and for how long: {@code 20/10m for 15m up to 24h}.
     * By default never. A policy of the configuration has its own ({@code limiter.policies.<name>.block}).
     */
    String block() default "";

    /**
     * The name of the policy that {@link #limits} make, or the prefix before a dot of those of plans: its name in
     * answers, keys and counters; 1 to 64 of
     * {@code A-Z a-z 0-9 . _ -}. By default {@code Class.method}, or {@code Class} on a class. Two annotations can't
     * have the same name; methods that share limits use a policy of the configuration.
     */
    String name() default "";

    /**
     * The plan of a caller, such as {@code #user.plan}: an expression that returns the name of a plan of the
     * configuration ({@code limiter.plans.<name>}), which sets the limits of the call. Instead of a policy and {@link
     * #limits}. The policy of a plan
     * is named {@code <name>.<plan>}, with this annotation's {@link #name}. If the expression fails, is null or names
     * no plan, {@link #defaultPlan} applies.
     */
    String plan() default "";

    /** The plan of callers without one. Required with {@link #plan}. */
    String defaultPlan() default "";

    /**
     * The key, which selects the quota. By default the client's address in a web request; a call outside of one then
     * throws an {@link IllegalStateException}. A list is a key of several parts: {@code {ip, #account}}. {@code global}
     * is a shared quota. {@code ip} and {@code user} are the keys of the filter's rules; every other part has a kind of
     * its own ({@code key=...}), so that a text is never read as an address. A part that is null or empty is replaced
     * by the client's address or, outside a request, by a quota that all such calls share.
     */
    String key() default "";

    /**
     * The member of a call, such as {@code #user}, if the policy counts members ({@code 5/1d distinct}): an
     * expression like {@link #key}. A part that is null or empty is the missing member, which counts as one.
     */
    String member() default "";

    /** The cost of a call: a whole number, from 0. */
    String permits() default "1";

    /** Whether this annotation applies to a call: true or false. By default it applies to every call. */
    String condition() default "";

    /**
     * The method that answers a denied call: one of the same class with the same parameters, or with a
     * {@link io.limiter.Decision} after them, and a compatible result. It can be private. A method has one fallback, though
     * it may have several of these annotations.
     */
    String fallback() default "";

    /** True to count calls and report those that would be denied, without denying any. */
    boolean shadow() default false;

    /**
     * If a call fails with one of these, its permits are refunded. For asynchronous methods this is the failure of
     * their result.
     */
    Class<? extends Throwable>[] refundOn() default {};

    /**
     * What a call has cost, such as {@code #result.usage.totalTokens}: then {@link #permits} is an estimate, which is reserved
     * and settled when the call has ended. An expression that also sees the {@code #result}: of an asynchronous method the
     * value of its result, of a stream its last element. Where it fails, is null or is no whole number from 0, and where the call
     * fails or is cancelled, the estimate stays; if {@link #refundOn} has the failure, all comes back. A named policy needs
     * {@code holds}; own limits and plans keep up to 1 000 reservations of a key.
     */
    String settle() default "";

    /** How long the estimate is held at most, from 1s to 1d: longer than any call takes. What ends after twice this time is not charged. */
    String settleWithin() default "5m";

    /**
     * How long a denied call waits until its permits are due, without a thread, such as {@code 500ms}; at most {@code
     * 1m}. By default not at all. Only for methods that are decided without blocking; of several annotations that deny,
     * the shortest wait counts. With {@link #shadow} it has no effect.
     */
    String maxWait() default "";

    /** The container of several annotations. Added by the compiler. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @Documented
    @interface List {
        /** All of them, in their order. */
        RateLimited[] value();
    }
}
