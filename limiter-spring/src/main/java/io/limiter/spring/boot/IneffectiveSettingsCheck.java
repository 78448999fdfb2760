package io.limiter.spring.boot;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.LimitText;
import io.limiter.spring.internal.AnnotatedPolicy;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
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

    /** A misspelled {@code limiter}, or a blank beside it. */
    private static final Pattern MISSPELLED = Pattern.compile(
            "(?i)^(?!limiter[.])\\s*(?:spring[.])?(?:rate[-_.]?)?li[-_]?m{0,2}[-_]?i?t{1,2}(?:er|or|re|r|s|ers|ing)?\\s*[.](?=.)");

    /** The limits and policies of rules and others, which may be those of another library. */
    private static final Pattern NAMED =
            Pattern.compile("(?i)(?:rules|policies|plans)[.\\[].+[.](?:limits|policy)(?:\\[[0-9]+])?");

    /** Keys that other libraries are unlikely to have. */
    private static final Pattern SECTIONS =
            Pattern.compile("(?i)(?:exempt|deny|plan[-_]?lookup|client[-_]?ip|in[-_]?process)[.\\[].+");

    @Override
    public void afterSingletonsInstantiated() {
        LimiterConfig config = limiter.config();
        if (config.policies().isEmpty()
                && config.settings().rules().isEmpty()
                && annotations.stream().noneMatch(RateLimitedPostProcessor::isUsed)
                && !environment.getProperty("spring.main.lazy-initialization", Boolean.class, false)
                && !isUsedByCode()) {
            LOG.warn("RL-138 nothing is limited: below limiter there is neither a policy nor a rule, and no bean has"
                    + " @RateLimited; add limiter.rules.api.path = /api/* and limiter.rules.api.limits = 100/1m, or remove"
                    + " the library");
        }
        warnOfMisplacedKeys(config);
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

    private void warnOfMisplacedKeys(LimiterConfig config) {
        // An environment variable has no dots; a cluster may set RULES_... there.
        List<String> misplaced = SourcedProperty.sources(environment).stream()
                .flatMap(SourcedProperty::of)
                .filter(property -> !property.isVariable() && isMisplaced(property, config))
                .map(property -> property.name() + " (" + property.place()
                        + (property.line() > 0 ? ", line " + property.line() : "") + ")")
                .toList();
        if (!misplaced.isEmpty()) {
            LOG.warn(
                    "RL-141 {} keys look like the limiter's, are not below limiter, and are not read: {}; check the spelling of"
                            + " limiter and the indentation of the lines below it, and write limiter.{}",
                    misplaced.size(),
                    misplaced.stream().limit(MOST_SHOWN).toList(),
                    below(misplaced.get(0).replaceFirst(" \\(.*", "")));
        }
    }

    /** Whether it would be a key of the limiter below {@code limiter}, and its value fits: limits in its grammar, or one of its policies. */
    private boolean isMisplaced(SourcedProperty property, LimiterConfig config) {
        String name = below(property.name());
        boolean isNamed = NAMED.matcher(name).matches();
        KnownKeys.Key key = isNamed || SECTIONS.matcher(name).matches() ? KnownKeys.find("limiter." + name) : null;
        if (key == null || !key.isKnown()) {
            return false;
        }
        String value = environment.resolvePlaceholders(String.valueOf(property.value()));
        return !isNamed || config.policies().containsKey(value) || LimitText.isLimits(value);
    }

    private static String below(String name) {
        return MISSPELLED.matcher(name).replaceFirst("");
    }
}
