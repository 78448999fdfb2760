package io.limiter.http.internal;

import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.http.internal.request.Request;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.ChargeOptions.RulePlans;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.internal.config.Settings.PlanSettings;
import io.limiter.rule.PlanResolver;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy of a request under a configured rule: that of the caller's plan, or the only one.
 *
 * @param policy returns it, as far as the plan is known
 * @param lookup begins the lookup of a plan that is not known; its result completes after the configured wait at the
 *     latest, never exceptionally. Null if there is nothing to look up
 */
record RulePolicy(Supplier<Policy> policy, @Nullable Supplier<CompletableFuture<?>> lookup) {
    private static final Logger LOG = LoggerFactory.getLogger(RulePolicy.class);

    /** Found once for each class, and unloaded with it. */
    private static final ClassValue<Map<String, Method[]>> METHODS = new ClassValue<>() {
        @Override
        protected Map<String, Method[]> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    /**
     * The policy of the rule for a request, directly after it has matched; null if the rule has no plans.
     *
     * @param classes provides the object of the class that the rule names
     * @throws IllegalArgumentException if the class can't be made
     */
    static @Nullable Function<RuleRequest, RulePolicy> ofPlan(
            RuleDefinition rule, RequestKey key, PlanSettings settings, NamedClasses classes) {
        RulePlans plans = rule.charging().plans();
        if (plans == null) {
            return null;
        }
        return switch (plans.source()) {
            case HEADER -> known(rule, request -> only(request.request(), plans.name()));
            case USER -> known(rule, request -> ofUser(request.request().user(), plans.name()));
            case RESOLVER ->
                ofResolver(
                        rule,
                        plans,
                        key,
                        settings,
                        classes.get("limiter.rules." + rule.name() + ".plan", plans.name(), PlanResolver.class));
        };
    }

    private static Function<RuleRequest, RulePolicy> known(
            RuleDefinition rule, Function<RuleRequest, @Nullable String> plan) {
        return request -> {
            Policy found = policy(rule, plan.apply(request));
            return new RulePolicy(() -> found, null);
        };
    }

    static void addFindings(RuleDefinition rule, List<String> all) {
        RulePlans plans = rule.charging().plans();
        if (plans != null && plans.source() == RulePlans.Source.HEADER) {
            all.add(
                    "RL-168 rule '" + rule.name() + "' takes the plan from the header " + plans.name()
                            + ": a proxy must overwrite or remove the one that a client sends; otherwise clients choose their plans");
        }
    }

    private static Policy policy(RuleDefinition rule, @Nullable Object plan) {
        if (plan instanceof Policy own) {
            return own;
        }
        RulePlans plans = rule.charging().plans();
        Policy policy = plan == null || plans == null ? null : plans.policies().get(plan);
        return policy == null ? rule.policy() : policy;
    }

    /** Null if there are several: a proxy that adds its own would keep that of the client. */
    private static @Nullable String only(Request request, String header) {
        List<String> lines = request.headers(header);
        return lines == null || lines.size() != 1 ? null : lines.get(0).strip();
    }

    /**
     * An attribute of the authenticated user as text: what a public method {@code plan()}, {@code getPlan()}, {@code
     * getAttribute("plan")} or {@code getClaim("plan")} of the principal returns, or of the object that its {@code
     * getPrincipal()} returns, as with Spring Security. Null if there is no user or the user has none.
     */
    static @Nullable String ofUser(@Nullable Principal user, String name) {
        Object holder = user;
        for (int depth = 0; holder != null && depth < 3; depth++) {
            Object value = read(holder, name);
            if (value != null) {
                return value.toString();
            }
            holder = read(holder, "principal");
        }
        return null;
    }

    private static @Nullable Object read(Object holder, String name) {
        Method[] methods = METHODS.get(holder.getClass()).computeIfAbsent(name, n -> find(holder.getClass(), n));
        for (Method method : methods) {
            try {
                Object value = method.getParameterCount() == 0 ? method.invoke(holder) : method.invoke(holder, name);
                if (value != null) {
                    return value;
                }
            } catch (ReflectiveOperationException | RuntimeException unreadable) {
                LOG.debug("an attribute of a user can't be read and counts as missing", unreadable);
            }
        }
        return null;
    }

    private static Method[] find(Class<?> type, String name) {
        String getter = "get" + name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        return Stream.of(type.getMethods())
                .filter(method -> method.getParameterCount() == 0
                        ? method.getName().equals(name) || method.getName().equals(getter)
                        : method.getParameterCount() == 1
                                && method.getParameterTypes()[0] == String.class
                                && (method.getName().equals("getAttribute")
                                        || method.getName().equals("getClaim")))
                .filter(Method::trySetAccessible)
                .toArray(Method[]::new);
    }

    private static Function<RuleRequest, RulePolicy> ofResolver(
            RuleDefinition rule, RulePlans plans, RequestKey key, PlanSettings settings, PlanResolver resolver) {
        TimeSource time = TimeSource.system();
        PlanResolver limits = new TenantLimits(rule.name(), rule.policy(), resolver, time);
        PlanLookup lookup = new PlanLookup(
                rule.name(), limits, settings, plan -> policy(rule, plan) != rule.policy(), time, PlanLookup.threads());
        RulePolicy byDefault = new RulePolicy(rule::policy, null);
        Throttle unknownLog = Throttle.hourly(time::nowMicros);
        return request -> {
            String caller = key.caller(request);
            if (caller == null) {
                return byDefault;
            }
            String client = request.network();
            Supplier<Policy> policy = () -> {
                Object plan = lookup.plan(caller, client);
                boolean isUnknown = plan != null
                        && !(plan instanceof Policy)
                        && !plans.policies().containsKey(plan);
                if (isUnknown && unknownLog.tryPass()) {
                    LOG.warn(
                            "RL-316 rule '{}': {} returned the plan '{}', which is not configured, so the caller"
                                    + " gets the default plan; add limiter.plans.{}.limits, or correct the name. Logged once an hour",
                            rule.name(),
                            plans.name(),
                            plan,
                            plan);
                }
                return policy(rule, plan);
            };
            return new RulePolicy(policy, lookup.isDue(caller, client) ? () -> lookup.lookUp(caller, client) : null);
        };
    }
}
