package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.config.LimitText;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Waits, when all beans are there and before the web server takes requests, for the connection of the limiter of {@code
 * limiter.*}; and reports settings that have no effect, for example because of a wrong indentation in a YAML file. That
 * nothing is limited: the application has the library but neither a policy, nor a rule, nor an annotation, nor code
 * with an injected limiter. And keys of the limiter that are not below {@code limiter}, and so are not read: an
 * application may have its own {@code rules} or {@code policies}, so only those with values in the limiter's grammar
 * are reported.
 */
record LimiterStartup(Limiter limiter, ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment)
        implements SmartInitializingSingleton {
    /** The name of the bean that its users depend on. */
    static final String LIMITER = "io.limiter.spring.limiter";

    private static final Logger LOG = LoggerFactory.getLogger(LimiterStartup.class);

    /** A key below a misspelled {@code limiter}, or below nothing. Other libraries are unlikely to have the first sections. */
    private static final Pattern LIKE_OURS = Pattern.compile("(?!limiter[.])"
            + "((spring[.])?(rate-?)?li-?m{0,2}-?i?t{1,2}(er|or|re|r|s|ers|ing)?[.])?"
            + "(?<key>(?:(?<ours>exempt|deny|plan-?lookup|client-?ip|in-?process)|rules|policies|plans)[.\\[].+)");

    @Override
    public void afterSingletonsInstantiated() {
        limiter.awaitConnected();
        LimiterConfig config = limiter.config();
        if (config.policies().isEmpty()
                && beans.getBeanProvider(RateLimitedPostProcessor.class).stream()
                        .noneMatch(RateLimitedPostProcessor::isUsed)
                && !environment.getProperty("spring.main.lazy-initialization", Boolean.class, false)
                && Arrays.stream(beans.getDependentBeans(LIMITER)).allMatch(this::isOurs)) {
            LOG.warn("RL-138 nothing is limited: below limiter there is neither a policy nor a rule, and no bean has"
                    + " @RateLimited; add limiter.rules.api.path = /api/* and limiter.rules.api.limits = 100/1m, or remove"
                    + " the library");
        }
        List<String> misplaced = ApplicationText.all(environment)
                .filter(property -> isMisplaced(property, config))
                .map(property -> property.getName() + " (" + property.getOrigin() + ")")
                .toList();
        if (!misplaced.isEmpty()) {
            LOG.warn(
                    "RL-141 {} keys look like the limiter's, are not below limiter, and are not read: {}; check the spelling of"
                            + " limiter and the indentation of the lines below it",
                    misplaced.size(),
                    misplaced);
        }
    }

    private boolean isOurs(String bean) {
        return bean.startsWith("io.limiter.")
                || bean.equals("ratelimitsHealthIndicator")
                || (beans.containsBeanDefinition(bean)
                        && beans.getBeanDefinition(bean).getRole() == BeanDefinition.ROLE_INFRASTRUCTURE);
    }

    /** Whether it would be a key of the limiter below {@code limiter}, and its value fits: limits in its grammar, or one of its policies. */
    private boolean isMisplaced(ConfigurationProperty property, LimiterConfig config) {
        Matcher key = LIKE_OURS.matcher(property.getName().toString());
        if (!key.matches()
                || ApplicationText.known(ConfigurationPropertyName.adapt("limiter." + key.group("key"), '.')) == null) {
            return false;
        }
        String value = environment.resolvePlaceholders(property.getValue().toString());
        return key.group("ours") != null || config.policies().containsKey(value) || LimitText.isLimits(value);
    }
}
