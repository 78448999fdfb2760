package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Facts;
import io.limiter.spring.config.EnableRateLimiting;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;

/** A method that is never called from a web request, and has the client of one as its key, fails startup and not each of its runs. */
class OutsideOfRequestsTest {
    /** As an application with Spring MVC has it: callers are those of web requests. */
    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    @EnableRateLimiting
    static class Site {
        @Bean
        Limiter limiter() {
            return Limiter.of(App.config(""), RateLimiters.on(InProcessBackend.create()));
        }
    }

    static class Job {
        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
        @RateLimited(limits = "1/1h")
        public void run() {}
    }

    static class JobsOfUsers {
        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
        @RateLimited(limits = "1/1h", key = "{'job', user}")
        public void run() {}
    }

    static class JobsBySeveralTimes {
        @Schedules({@Scheduled(cron = "0 0 1 * * *"), @Scheduled(cron = "0 0 2 * * *")})
        @RateLimited(limits = "1/1h", key = "ip")
        public void run() {}
    }

    @RateLimited(limits = "1/1h")
    static class WholeClass {
        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
        public void run() {}
    }

    @Scheduled(cron = "0 0 1 * * *")
    @Retention(RetentionPolicy.RUNTIME)
    @interface EveryNight {}

    static class JobByAnAnnotationOfItsOwn {
        @EveryNight
        @RateLimited(limits = "1/1h", condition = "user != null", key = "global")
        public void run() {}
    }

    /** As those of Kafka, RabbitMQ and JMS are made. */
    @MessageMapping
    @Retention(RetentionPolicy.RUNTIME)
    @interface QueueListener {}

    static class Listener {
        @QueueListener
        @RateLimited(limits = "1/1h")
        public void receive(String text) {}
    }

    @Test
    void startupFailsWithTheMethodAndTheRemedy() {
        for (Class<?> bean : List.of(Job.class, JobsOfUsers.class, JobsBySeveralTimes.class, WholeClass.class)) {
            assertFails(bean, "run()", "Schedule");
        }
        assertFails(JobByAnAnnotationOfItsOwn.class, "run()", "@EveryNight");
        assertFails(Listener.class, "receive(String)", "@QueueListener");
    }

    private static void assertFails(Class<?> bean, String method, String caller) {
        String message = assertThrows(BeanCreationException.class, () -> start(bean, Site.class))
                .getMostSpecificCause()
                .getMessage();
        Facts.told(message, "RL-128", "@RateLimited", bean.getName() + "." + method, caller, "key = \"global\"");
    }

    static class GoodJobs {
        private final CountDownLatch ran = new CountDownLatch(1);

        public boolean hasRun() throws InterruptedException {
            return ran.await(30, TimeUnit.SECONDS);
        }

        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
        @RateLimited(limits = "1/1h", key = "global")
        public void run() {
            ran.countDown();
        }

        @QueueListener
        @RateLimited(limits = "1/1h", key = "#text")
        public void receive(String text) {}

        @RateLimited(limits = "1/1h", name = "unscheduled")
        public void unscheduled() {}
    }

    @Test
    void oneWithAKeyRuns() throws InterruptedException {
        try (AnnotationConfigApplicationContext context = start(GoodJobs.class, Site.class)) {
            assertTrue(context.getBean(GoodJobs.class).hasRun());
        }
    }

    /** The application may know whom a thread of its scheduler works for. */
    @Configuration(proxyBeanMethods = false)
    static class OwnCallers {
        @Bean
        CallerSource callerSource() {
            return () -> null;
        }
    }

    @Test
    void callersOfTheApplicationMayKnowMore() {
        try (AnnotationConfigApplicationContext context = start(Listener.class, Site.class, OwnCallers.class)) {
            Listener listener = context.getBean(Listener.class);
            String message = assertThrows(IllegalStateException.class, () -> listener.receive("text"))
                    .getMessage();
            Facts.told(message, "RL-128", Listener.class.getName() + ".receive(String)", "key = \"global\"");
        }
    }

    private static AnnotationConfigApplicationContext start(Class<?>... classes) {
        return new AnnotationConfigApplicationContext(classes);
    }
}
