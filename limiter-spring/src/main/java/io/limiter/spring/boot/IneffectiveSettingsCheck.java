package io.limiter.spring.boot;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.LimitText;
import io.limiter.spring.internal.AnnotatedPolicy;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Reports at startup settings that have no effect, for example because of a wrong indentation in a YAML file. That
 * nothing is limited: the application has the library but neither a policy, nor a rule, nor an annotation, nor code
 * with an injected limiter. And keys of the limiter that are not below {@code limiter}, and so are not read: an
 * application may have its own {@code rules} or {@code policies}, so only those with values in the limiter's grammar
 * are reported.
 */
record IneffectiveSettingsCheck(
        Limiter limiter,
        ObjectProvider<RateLimitedPostProcessor> annotations,
        ConfigurableListableBeanFactory beans,
        ConfigurableEnvironment environment)
        implements SmartInitializingSingleton {
    /** The name of the bean that its users depend on. */
    static final String LIMITER = "io.limiter.spring.limiter";

    private static final Logger LOG = DiagnosticLog.of(IneffectiveSettingsCheck.class);
    private static final int MOST_SHOWN = 6;

    /** Keys that were possibly meant for the limiter. */
    private static final Pattern NEAR = Pattern.compile(
            "(?i)(?!limiter[.])(?:(?:rate[-_.]?)?lim{1,2}i?t{1,2}(?:er|or|re|r|s|ers|ing)?|rules|policies)[.\\[].+");

    /** A misspelled {@code limiter}, or a blank beside it. */
    private static final Pattern MISSPELLED = Pattern.compile(
            "(?i)^(?!limiter[.])\\s*(?:spring[.])?(?:rate[-_.]?)?li[-_]?m{0,2}[-_]?i?t{1,2}(?:er|or|re|r|s|ers|ing)?\\s*[.](?=.)");

    /** The keys of policies and rules, and keys that other libraries are unlikely to have. */
    private static final Pattern SECTIONS = Pattern.compile(
            "(?i)(?:rules|policies|plans|exempt|deny|plan[-_]?lookup|client[-_]?ip|in[-_]?process)[.\\[].+");

    @Override
    public void afterSingletonsInstantiated() {
        LimiterConfig config = limiter.config();
        // An environment variable has no dots; a cluster may set RULES_... there.
        List<SourcedProperty> written = SourcedProperty.sources(environment).stream()
                .flatMap(SourcedProperty::of)
                .filter(property -> !property.isVariable())
                .toList();
        if (config.policies().isEmpty()
                && config.settings().rules().isEmpty()
                && annotations.stream().noneMatch(RateLimitedPostProcessor::isUsed)
                && !environment.getProperty("spring.main.lazy-initialization", Boolean.class, false)
                && !isUsedByCode()) {
            String near = written.stream()
                    .map(SourcedProperty::name)
                    .filter(name -> NEAR.matcher(name).matches())
                    .distinct()
                    .limit(MOST_SHOWN)
                    .collect(Collectors.joining(", "));
            LOG.warn(
                    "RL-138 nothing is limited: below limiter there is neither a policy nor a rule, and no bean has @RateLimited;"
                            + " add limiter.rules.api.path = /api/* and limiter.rules.api.limits = 100/1m, or remove the library{}",
                    near.isEmpty() ? "" : ". These keys look similar; check their spelling and indentation: " + near);
        }
        warnOfMisplacedKeys(written, config);
        annotations.stream().flatMap(one -> one.policies().stream()).forEach(used -> warnOfTwoCharges(used, config));
    }

    private static void warnOfTwoCharges(AnnotatedPolicy used, LimiterConfig config) {
        String policy = used.policy().name();
        List<String> rules = config.settings().rulesWith(policy, false).toList();
        if (!rules.isEmpty()) {
            LOG.warn(
                    "RL-198 policy '{}' is in the rules {} and in @RateLimited of {}: a request that meets both is charged twice;"
                            + " remove one of the two, or write limiter.rules.{}.limits instead of its policy",
                    policy,
                    rules,
                    used.method(),
                    rules.get(0));
        }
    }

    /** Whether a bean of the application, or of another library, decides by policies of its own. */
    private boolean isUsedByCode() {
        return beans.getBeanNamesForType(RateLimiter.class, true, false).length > 0
                || !Arrays.stream(beans.getDependentBeans(LIMITER)).allMatch(this::isOurs);
    }

    private boolean isOurs(String bean) {
        return bean.startsWith("io.limiter.")
                || bean.equals("ratelimitsHealthIndicator")
                || (beans.containsBeanDefinition(bean)
                        && beans.getBeanDefinition(bean).getRole() == BeanDefinition.ROLE_INFRASTRUCTURE);
    }

    /** A key that would be the limiter's if it were below {@code limiter}. */
    private record Misplaced(SourcedProperty property, KnownKeys.Key key, String value) {
        /** Whether its value fits the limiter: limits in its grammar, or an existing policy. */
        boolean isProof(LimiterConfig config) {
            return key.owner().isEmpty()
                    || (key.text().endsWith(".limits") && LimitText.isLimits(value))
                    || (key.text().endsWith(".policy") && config.policies().containsKey(value));
        }

        @Override
        public String toString() {
            int line = property.line();
            return property.name() + " (" + property.place() + (line > 0 ? ", line " + line : "") + ")";
        }
    }

    private void warnOfMisplacedKeys(List<SourcedProperty> written, LimiterConfig config) {
        List<Misplaced> near = new ArrayList<>();
        for (SourcedProperty property : written) {
            String name = MISSPELLED.matcher(property.name()).replaceFirst("");
            KnownKeys.Key key = SECTIONS.matcher(name).matches() ? KnownKeys.find("limiter." + name) : null;
            if (key != null && key.isKnown()) {
                near.add(new Misplaced(
                        property, key, environment.resolvePlaceholders(String.valueOf(property.value()))));
            }
        }
        Set<String> owners = near.stream()
                .filter(one -> one.isProof(config))
                .map(one -> one.key().owner())
                .collect(Collectors.toSet());
        List<Misplaced> ours =
                near.stream().filter(one -> owners.contains(one.key().owner())).toList();
        if (!ours.isEmpty()) {
            LOG.warn(
                    "RL-141 {} keys look like the limiter's, are not below limiter, and are not read: {}; indent their lines below"
                            + " limiter, or write {}",
                    ours.size(),
                    ours.subList(0, Math.min(ours.size(), MOST_SHOWN)),
                    ours.get(0).key().text());
        }
    }
}
