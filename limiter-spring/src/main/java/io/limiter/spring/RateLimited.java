package io.limiter.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how often a method is called. A call that is denied throws {@link RateLimitExceededException}, or does what
 * {@link #fallback} says.
 *
 * <pre>{@code
 * @RateLimited("vote")                                        // the policy limiter.policies.vote
 * void vote(String choice) { ... }
 *
 * @RateLimited(limits = "1/1m, 5/1d fixed", key = "#phone")   // limits of its own
 * void sendCode(String phone) { ... }
 * }</pre>
 *
 * <p>On a class it is for all its public methods, which share the one policy; a method's own annotations stand instead of
 * those of its class. On an interface it holds for Spring beans that implement it, not for woven classes. Several on
 * one method are one decision: all of them pass, or nothing is taken. It can stand on an annotation of your own, whose
 * attributes may be aliases ({@code @AliasFor(annotation = RateLimited.class)}).
 *
 * <p>Methods that return {@code CompletionStage}, {@code CompletableFuture}, {@code Mono}, {@code Flux} or {@code Publisher} are
 * decided without blocking the caller; Reactor's types each time that somebody subscribes. All other methods wait for the
 * decision.
 *
 * <p>{@link #key}, {@link #member}, {@link #permits}, {@link #plan} and {@link #condition} are expressions of the Spring Expression Language. They see the
 * parameters by their names ({@code #phone}; without names in the class file {@code #p0}), beans ({@code @plans}, in a
 * Spring context), and these words: {@code ip}, {@code user} and {@code principal} of the web request that the call belongs
 * to, and {@code global}. They can't name types, make objects or change anything. They are parsed and checked when the bean
 * is made, or where there is no Spring when the method is called first.
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
     * Limits of its own, such as {@code 3/10s sliding-list, 100/1h fixed}: the grammar of the configuration, separated by
     * commas. When Redis can't answer, they are divided among the instances ({@code on-failure = local}).
     */
    String limits() default "";

    /**
     * After how many denials by {@link #limits} a key is blocked, and for how long: {@code 20/10m for 15m up to 24h}. Never unless
     * given. A policy of the configuration has its own ({@code limiter.policies.<name>.block}).
     */
    String block() default "";

    /**
     * The name of the policy that {@link #limits} make, or before a dot of those of plans: how it is called in answers, in keys and in counters; 1 to 64 of
     * {@code A-Z a-z 0-9 . _ -}. Unless given it is {@code Class.method}, or {@code Class} on a class. Two annotations can't
     * have one name; what several methods share is a policy of the configuration.
     */
    String name() default "";

    /**
     * The plan of a caller, such as {@code #user.plan}: an expression that gives the name of a plan of the configuration ({@code
     * limiter.plans.<name>}), whose limits are then those of the call. Instead of a policy and {@link #limits}. The policy of a plan
     * is called {@code <name>.<plan>}, with this annotation's {@link #name}. An expression that fails, is null or names no
     * plan gives {@link #defaultPlan}.
     */
    String plan() default "";

    /** The plan of callers without one. Required with {@link #plan}. */
    String defaultPlan() default "";

    /**
     * Whose quota. Unless given, the client's address in a web request; a call outside of one then throws an
     * {@link IllegalStateException}. A list is a key of several parts: {@code {ip, #account}}. {@code global} is one quota for
     * all. {@code ip} and {@code user} are the keys of the filter's rules; every other part is of a kind of its own ({@code
     * key=...}), so that no text is taken for an address. A part that is null or empty is replaced by the client's address, or outside a request by one quota for all of
     * those.
     */
    String key() default "";

    /**
     * The member that a call is for, such as {@code #user}, where the policy counts members ({@code 5/1d distinct}): an
     * expression like {@link #key}. A part that is null or empty is the missing member, which counts as one.
     */
    String member() default "";

    /** What a call costs: a whole number, from 0. */
    String permits() default "1";

    /** Whether this annotation is for a call at all: true or false. Unless given, for every call. */
    String condition() default "";

    /**
     * The method that answers a denied call: one of the same class with the same parameters, or with a
     * {@link io.limiter.Decision} after them, and a result that fits. It can be private. A method has one fallback, though
     * it may have several of these annotations.
     */
    String fallback() default "";

    /** True to count and to report what would be denied, and to deny nothing. */
    boolean shadow() default false;

    /**
     * A call that fails with one of these takes nothing: what it took is given back. Of asynchronous methods it is what
     * their result fails with.
     */
    Class<? extends Throwable>[] refundOn() default {};

    /**
     * How long a call that is denied waits until its permits are due, without a thread, such as {@code 500ms}; at most {@code
     * 1m}. Unless given, not at all. Only for methods that are decided without blocking; of several annotations that deny,
     * the shortest counts. With {@link #shadow} it has no effect.
     */
    String maxWait() default "";

    /** Several of them. The compiler writes it. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @Documented
    @interface List {
        /** All of them, in their order. */
        RateLimited[] value();
    }
}
