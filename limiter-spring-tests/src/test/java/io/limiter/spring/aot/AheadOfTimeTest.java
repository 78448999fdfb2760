package io.limiter.spring.aot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.DecoratingProxy;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.stereotype.Component;

/**
 * Contexts are processed ahead of time, as for a native image, and what was generated is compiled and started. A native image
 * itself is not built here: what it would need at run time is compared with the hints.
 */
class AheadOfTimeTest {
    public record Order(String id, Customer customer, List<Item> items) {}

    public record Item(int weight) {}

    public static class Customer {
        private final String name;

        public Customer(String name) {
            this.name = name;
        }

        public String getName() {
            return name;
        }
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(limits = "1/1h", name = "own")
    @interface Own {
        @AliasFor(annotation = RateLimited.class, attribute = "key")
        String of();
    }

    static class Shop {
        @RateLimited(value = "orders", key = "{#order.customer.name, @plans.of(#order)}", fallback = "later")
        public String order(Order order) {
            return "ordered";
        }

        @RateLimited(limits = "3/1h", key = "#order.id", permits = "#order.items.size()")
        public String pack(Order order) {
            return "packed";
        }

        @Own(of = "global")
        public String once() {
            return "once";
        }

        private String later(Order order) {
            return "later";
        }
    }

    static class Plans {
        public String of(Order order) {
            return "free";
        }
    }

    /** Names beans in every attribute that is an expression. */
    static class Desk {
        @RateLimited(
                plan = "@planBean.of(#p0)",
                defaultPlan = "free",
                name = "desk",
                key = "@keyBean.of(#p0)",
                member = "@memberBean.of(#p0)",
                permits = "@permitsBean.of(#p0)",
                condition = "@conditionBean.of(#p0)")
        public String call(String who) {
            return who;
        }

        @RateLimited(value = "tokens", key = "global", permits = "10", settle = "@settleBean.of(#result.usage)")
        public Answer answer(String question) {
            return new Answer(new Usage(1));
        }
    }

    public record Answer(Usage usage) {}

    public record Usage(int tokens) {}

    @Component("planBean")
    static class PlanBean {}

    @Component("keyBean")
    static class KeyBean {}

    @Component("memberBean")
    static class MemberBean {}

    @Component("permitsBean")
    static class PermitsBean {}

    @Component("conditionBean")
    static class ConditionBean {}

    @Component("settleBean")
    static class SettleBean {}

    public interface Greeting {
        String greet();
    }

    /** Final, so its proxy has its interface. */
    static final class Greeter implements Greeting {
        @Override
        @RateLimited(limits = "1/1h", key = "global")
        public String greet() {
            return "hello";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting("classpath:io/limiter/spring/aot/limiter.properties")
    @Import({Shop.class, Greeter.class})
    static class Application {
        @Bean
        static Plans plans() {
            return new Plans();
        }
    }

    /** Would fail when it is made: nobody asks for it while the application is built. */
    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting
    @Import(Greeter.class)
    static class WithALimiterOfItsOwn {
        @Bean
        Limiter limiter() {
            if (!Boolean.getBoolean("spring.aot.enabled")) {
                throw new IllegalStateException("a limiter was made while the application was built");
            }
            return Limiter.start(LimiterConfig.builder().build());
        }
    }

    @Test
    @CompileWithForkedClassLoader
    void whatWasGeneratedLimitsAsBefore() {
        process(Application.class).start(GenericApplicationContext::new, context -> {
            Shop shop = context.getBean(Shop.class);
            assertTrue(AopUtils.isCglibProxy(shop));
            Order order = new Order("1", new Customer("alice"), List.of(new Item(1), new Item(2)));
            assertEquals("ordered", shop.order(order));
            assertEquals("later", shop.order(order));
            assertEquals("ordered", shop.order(new Order("2", new Customer("bob"), List.of())));
            assertEquals("packed", shop.pack(order));
            assertThrows(RateLimitExceededException.class, () -> shop.pack(order));
            assertEquals("once", shop.once());
            assertThrows(RateLimitExceededException.class, shop::once);
            Greeting greeting = context.getBean(Greeting.class);
            assertTrue(AopUtils.isJdkDynamicProxy(greeting));
            assertEquals("hello", greeting.greet());
            assertThrows(RateLimitExceededException.class, greeting::greet);
            assertTrue(context.containsBean("rateLimitExceededAdvice"));
            assertTrue(context.containsBean("callerSource"));
        });
    }

    @Test
    @CompileWithForkedClassLoader
    void noLimiterIsMadeWhileTheApplicationIsBuilt() {
        process(WithALimiterOfItsOwn.class).start(GenericApplicationContext::new, context -> {
            Greeting greeting = context.getBean(Greeting.class);
            assertEquals("hello", greeting.greet());
            assertThrows(RateLimitExceededException.class, greeting::greet);
        });
    }

    static class Wrong {
        @RateLimited(limits = "1/1h", key = "global")
        private void hidden() {}
    }

    @Test
    void aMethodOutOfReachStopsTheBuildAlready() {
        String message = App.message(() -> process(App.OfClasses.class, Wrong.class));
        assertTrue(message.startsWith("RL-130"), message);
    }

    @Test
    void theBeansOfAllExpressionsAreCalledByReflection() throws Exception {
        List<Class<?>> beans = List.of(
                PlanBean.class,
                KeyBean.class,
                MemberBean.class,
                PermitsBean.class,
                ConditionBean.class,
                SettleBean.class);
        RuntimeHints hints = process(Stream.concat(Stream.of(App.OfClasses.class, Desk.class), beans.stream())
                        .toArray(Class<?>[]::new))
                .generation()
                .getRuntimeHints();
        for (Class<?> named : beans) {
            assertTrue(
                    RuntimeHintsPredicates.reflection()
                            .onType(named)
                            .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)
                            .test(hints),
                    named::getName);
        }
        invokes(hints, Answer.class, "usage");
        invokes(hints, Usage.class, "tokens");
    }

    @Test
    void proxiesAreMadeAheadOfTime() {
        TestGenerationContext generation = process(Application.class).generation();
        String proxy = Shop.class.getName().replace('.', '/') + "$$SpringCGLIB$$0.class";
        assertTrue(
                generation.getGeneratedFiles().getGeneratedFiles(Kind.CLASS).containsKey(proxy),
                () -> generation
                        .getGeneratedFiles()
                        .getGeneratedFiles(Kind.CLASS)
                        .keySet()
                        .toString());
        assertTrue(RuntimeHintsPredicates.proxies()
                .forInterfaces(Greeting.class, SpringProxy.class, Advised.class, DecoratingProxy.class)
                .test(generation.getRuntimeHints()));
    }

    @Test
    void whatANativeImageMustKeep() throws Exception {
        RuntimeHints hints = process(Application.class).generation().getRuntimeHints();
        for (String script :
                List.of("batch", "fixed_window", "self_test", "sliding_list", "sliding_zset", "token_bucket")) {
            String resource = "io/limiter/redis/" + script + ".lua";
            assertTrue(RuntimeHintsPredicates.resource().forResource(resource).test(hints), resource);
        }
        for (Class<?> read : List.of(RateLimited.class, RateLimited.List.class, Own.class)) {
            assertTrue(RuntimeHintsPredicates.reflection().onType(read).test(hints), read::getName);
        }
        assertTrue(RuntimeHintsPredicates.proxies()
                .forInterfaces(RateLimited.class)
                .test(hints));
        invokes(hints, Shop.class, "order", Order.class);
        invokes(hints, Shop.class, "later", Order.class);
        invokes(hints, Greeter.class, "greet");
        invokes(hints, Order.class, "customer");
        invokes(hints, Order.class, "items");
        invokes(hints, Customer.class, "getName");
        invokes(hints, Item.class, "weight");
        invokes(hints, Plans.class, "of", Order.class);
        invokes(hints, Class.forName("java.util.ImmutableCollections$ListN"), "size");
        invokes(hints, Class.forName("io.limiter.spring.internal.CallVariables$Words"), "getUser");
    }

    private static void invokes(RuntimeHints hints, Class<?> type, String name, Class<?>... parameters)
            throws NoSuchMethodException {
        assertTrue(
                RuntimeHintsPredicates.reflection()
                        .onMethod(type.getDeclaredMethod(name, parameters))
                        .invoke()
                        .test(hints),
                () -> type.getName() + "." + name);
    }

    private static Processed process(Class<?>... classes) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(classes);
        return Processed.of(context);
    }
}
