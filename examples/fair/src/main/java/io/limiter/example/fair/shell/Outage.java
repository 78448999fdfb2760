package io.limiter.example.fair.shell;

import io.limiter.BackendException;
import io.limiter.example.fair.RedisAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.redisson.client.RedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.support.TaskUtils;
import org.springframework.stereotype.Component;
import org.springframework.util.ErrorHandler;

/** Whether Redis answers, as far as requests and scheduled methods have noticed. Logged once when it ends and once when it is over. Thread-safe. */
@Component
class Outage {
    private static final Logger LOG = LoggerFactory.getLogger(Outage.class);

    private final String address;
    private final AtomicBoolean silent = new AtomicBoolean();

    Outage(RedisAddress redis) {
        this.address = redis.address().replaceFirst("//.*@", "//");
    }

    /** Notes a failure; returns whether it is one of Redis. */
    boolean isOne(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof RedisException) && !(cause instanceof BackendException)) {
            cause = cause.getCause();
        }
        if (cause != null && silent.compareAndSet(false, true)) {
            LOG.warn(
                    "Redis at {} does not answer ({}); visitors get 503 until it does",
                    address,
                    cause.getClass().getSimpleName());
        }
        return cause != null;
    }

    /** Redis has answered. */
    void end() {
        if (silent.get() && silent.compareAndSet(true, false)) {
            LOG.info("Redis at {} answers again", address);
        }
    }

    /** Scheduled methods run again in a moment; without this each of them would log pages each time. */
    @Configuration
    static class Scheduled {
        @Bean
        ThreadPoolTaskSchedulerCustomizer quietWithoutRedis(Outage outage) {
            ErrorHandler others = TaskUtils.LOG_AND_SUPPRESS_ERROR_HANDLER;
            return scheduler -> scheduler.setErrorHandler(failure -> {
                if (!outage.isOne(failure)) {
                    others.handleError(failure);
                }
            });
        }
    }
}
