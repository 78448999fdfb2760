package io.limiter.spring.boot.internal;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.DoorBuilder;
import io.limiter.http.internal.ReplacedAddresses;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.KeyPart;
import io.limiter.internal.config.RuleDefinition;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.ClassUtils;

/** Where the two filters of a web application are, of servlets or of WebFlux, and what does not work at these places. */
public final class FilterPlaces {
    /** Whether the application has the filters. */
    public static final String ENABLED = "limiter.filter.enabled";

    /** The order of the filter before authentication. */
    public static final String ORDER = "limiter.filter.order";

    /** The order of the filter after authentication. */
    public static final String USER_ORDER = "limiter.filter.user-order";

    /** The names of the filters before authentication. Their rules may name classes. */
    public static final List<String> FILTERS =
            List.of("io.limiter.spring.rateLimitFilter", "io.limiter.webflux.rateLimitFilter");

    /**
     * After the filters that every answer needs (encoding, observation, a session of Spring Session), and before those that
     * read bodies: HiddenHttpMethodFilter at -10000, FormContentFilter at -9900.
     */
    public static final int FIRST = -10_100;

    /** Of Tomcat: the other web servers leave the headers as they are. */
    public static final String VALVE = "org.apache.catalina.valves.RemoteIpValve";

    private static final Logger LOG = DiagnosticLog.of(FilterPlaces.class);

    private FilterPlaces() {}

    /**
     * The order of the filter before authentication; reports what has no effect there.
     *
     * @param security the order of Spring Security's filter
     */
    public static int first(Limiter limiter, ConfigurableEnvironment environment, int security) {
        limiter.derive(FilterPlaces::usersThatAreNotKnownYet).reporting(LOG::warn, found -> found);
        return environment.getProperty(ORDER, Integer.class, security <= FIRST ? security - 1 : FIRST);
    }

    /**
     * The order of the filter after authentication.
     *
     * @param hasSecurity whether there is a filter of Spring Security
     * @throws IllegalStateException if it is too early, and there are rules for it
     */
    public static int afterAuthentication(
            Limiter limiter, ConfigurableEnvironment environment, int security, boolean hasSecurity) {
        int order = environment.getProperty(USER_ORDER, Integer.class, security + 1);
        if (order <= security && hasSecurity) {
            limiter.derive(config -> refuseRulesTooEarly(config, order, security));
        }
        if (!hasSecurity) {
            limiter.derive(FilterPlaces::usersThatNobodyKnows).reporting(LOG::warn, found -> found);
        }
        return order;
    }

    /** Whether there is a bean of a class, which need not be there. */
    public static boolean has(ListableBeanFactory beans, String type) {
        return ClassUtils.isPresent(type, null)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(type, null), true, false).length > 0;
    }

    /** A builder of a filter with what answers denied requests, and with other classes, of the application. */
    public static <H, B extends DoorBuilder<?, H, B>> B withBeans(
            B builder, Class<H> handler, ListableBeanFactory beans) {
        return builder.rejectionHandler(beans.getBeanProvider(handler).getIfAvailable())
                .instances(type -> beans.getBeanProvider(type).getIfAvailable());
    }

    private static Object refuseRulesTooEarly(LimiterConfig config, int order, int security) {
        List<String> rules = config.settings().rulesThat(rule -> !rule.isBeforeAuthentication());
        if (!rules.isEmpty()) {
            throw new IllegalStateException("RL-146 " + USER_ORDER + " = " + order + " is before Spring Security ("
                    + security + "), where no user is known, and the rules " + rules
                    + " are decided after authentication; remove it, or write a greater order");
        }
        return rules;
    }

    private static List<String> usersThatNobodyKnows(LimiterConfig config) {
        List<String> rules = config.settings()
                .rulesThat(rule -> rule.key().stream().anyMatch(part -> part.kind() == KeyPart.Kind.USER));
        return rules.isEmpty()
                ? List.of()
                : List.of("RL-199 the rules " + rules
                        + " have the key user, and the application has no Spring Security, so"
                        + " nobody logs in there, and they count by address; write limiter.rules." + rules.get(0)
                        + ".key = ip, or ignore this if the container or a filter tells the user");
    }

    private static List<String> usersThatAreNotKnownYet(LimiterConfig config) {
        List<String> early = config.settings().rulesThat(RuleDefinition::isBeforeAuthentication);
        return !config.settings().callers().exempt().needUser() || early.isEmpty()
                ? List.of()
                : List.of("RL-157 rules " + early + " are decided before Spring Security, where no user is known, so"
                        + " limiter.exempt.users and limiter.exempt.roles have no effect on them; write limiter.rules."
                        + early.get(0) + ".exempt.roles to decide a rule after it");
    }

    /**
     * Checks for what replaces the addresses of clients, in this and each later configuration, and reports it.
     *
     * @param isTomcat whether the server may be Tomcat, which removes the header that it has read
     * @param ofFramework what does it in the application, as an operator calls it, if this is known now; null for nothing
     * @throws IllegalArgumentException if the configuration depends on these addresses
     */
    public static void checkAddresses(
            Limiter limiter, ConfigurableEnvironment environment, boolean isTomcat, @Nullable String ofFramework) {
        limiter.derive(config -> replaced(config, environment, isTomcat, ofFramework))
                .reporting(LOG::warn, found -> found);
    }

    /** The web server does it, or a component of the application. */
    private static List<String> replaced(
            LimiterConfig config, ConfigurableEnvironment environment, boolean isTomcat, @Nullable String ofFramework) {
        CloudPlatform platform = CloudPlatform.getActive(environment);
        boolean isOfPlatform = platform != null && platform.isUsingForwardHeaders();
        String strategy = environment.getProperty("server.forward-headers-strategy", isOfPlatform ? "native" : "");
        boolean isValve = Stream.of("remote-ip-header", "protocol-header")
                .anyMatch(header -> environment.containsProperty("server.tomcat.remoteip." + header));
        if (strategy.equalsIgnoreCase("native") || isValve) {
            String by = isValve
                    ? "server.tomcat.remoteip"
                    : "server.forward-headers-strategy = native"
                            + (isOfPlatform ? " (the default on " + platform + ")" : "");
            ReplacedAddresses.refuse(config.settings(), by, isTomcat);
            return ReplacedAddresses.findings(config.settings(), by);
        }
        if (ofFramework != null) {
            ReplacedAddresses.refuse(config.settings(), ofFramework, false);
            return ReplacedAddresses.findings(config.settings(), ofFramework);
        }
        // A servlet filter of the application is found, and reported, when it starts.
        if (strategy.equalsIgnoreCase("framework")) {
            ReplacedAddresses.refuse(config.settings(), "server.forward-headers-strategy = framework", false);
        }
        return List.of();
    }
}
