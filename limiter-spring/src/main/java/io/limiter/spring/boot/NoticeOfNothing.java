package io.limiter.spring.boot;

import io.limiter.DiagnosticLog;
import io.limiter.Limiter;
import io.limiter.RateLimiter;
import io.limiter.spring.proxy.RateLimitedPostProcessor;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;

/**
 * Says that nothing is limited, when the application has the library and neither a policy, nor a rule, nor an annotation, nor code that
 * has the limiter injected: a slip of the indentation in a YAML file is enough, and nobody would see it before the flood.
 */
final class NoticeOfNothing implements SmartInitializingSingleton {
    private static final Logger LOG = DiagnosticLog.of(LimiterAutoConfiguration.class);
    private static final int MOST_SHOWN = 5;

    /** Keys that were perhaps meant to be ours. */
    private static final Pattern NEAR = Pattern.compile(
            "(?i)(?!limiter[.])(?:(?:rate[-_.]?)?lim{1,2}i?t{1,2}(?:er|or|re|r|s|ers|ing)?|rules|policies)[.\\[].+");

    private final Limiter limiter;
    private final ObjectProvider<RateLimitedPostProcessor> annotations;
    private final ConfigurableListableBeanFactory beans;
    private final ConfigurableEnvironment environment;

    NoticeOfNothing(
            Limiter limiter,
            ObjectProvider<RateLimitedPostProcessor> annotations,
            ConfigurableListableBeanFactory beans,
            ConfigurableEnvironment environment) {
        this.limiter = limiter;
        this.annotations = annotations;
        this.beans = beans;
        this.environment = environment;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (limiter.config().policies().isEmpty()
                && limiter.config().rules().isEmpty()
                && annotations.stream().allMatch(one -> one.policies().isEmpty())
                && !environment.getProperty("spring.main.lazy-initialization", Boolean.class, false)
                && !isUsedByCode()) {
            List<String> near = near();
            LOG.warn(
                    "RL-138 nothing is limited: below limiter there is neither a policy nor a rule, and no bean has @RateLimited;"
                            + " add limiter.rules.api.path = /api/* and limiter.rules.api.limits = 100/1m, or remove the library{}",
                    near.isEmpty()
                            ? ""
                            : ". Perhaps these were meant, and their spelling or indentation is not right: "
                                    + String.join(", ", near));
        }
    }

    /** Whether a bean of the application, or of another library, decides by policies of its own. */
    private boolean isUsedByCode() {
        if (beans.getBeanNamesForType(RateLimiter.class, true, false).length > 0) {
            return true;
        }
        for (String dependent : beans.getDependentBeans(LimiterAutoConfiguration.LIMITER)) {
            if (!isOurs(dependent)) {
                return true;
            }
        }
        return false;
    }

    private boolean isOurs(String bean) {
        Class<?> type = beans.getType(bean, false);
        // Health has a type of Spring Boot, or is null where the state is in this JVM.
        return bean.startsWith("io.limiter.")
                || bean.equals("ratelimitsHealthIndicator")
                || (type != null && type.getPackageName().equals("io.limiter.spring.boot.actuate"));
    }

    private List<String> near() {
        List<String> near = new ArrayList<>();
        for (PropertySource<?> source : environment.getPropertySources()) {
            String[] names =
                    source instanceof EnumerablePropertySource<?> known ? known.getPropertyNames() : new String[0];
            for (String name : names) {
                if (near.size() < MOST_SHOWN
                        && !near.contains(name)
                        && NEAR.matcher(name).matches()) {
                    near.add(name);
                }
            }
        }
        return near;
    }
}
