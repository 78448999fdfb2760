package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.core.Ordered;

/** Beans that others keep, need early or wrap: limited once, or startup fails because they can't be. A proxy whose target is replaced has the limits of its target. */
class EscapesTest {
    static class Service {
        @RateLimited(limits = "1/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    /** As those do that listen to messages: they keep the bean as they find it. */
    static class Keeping implements BeanPostProcessor, Ordered {
        private Object kept = "nothing";

        @Override
        public int getOrder() {
            return Ordered.LOWEST_PRECEDENCE;
        }

        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            if (AopUtils.getTargetClass(bean) == Service.class) {
                kept = bean;
            }
            return bean;
        }
    }

    @Test
    void whoKeepsABeanKeepsItsLimits() {
        try (App app = App.ofClasses("", Keeping.class, Service.class)) {
            Service kept = (Service) app.bean(Keeping.class).kept;
            assertEquals(1, App.passes(5, kept::call));
        }
    }

    /** Is made before the post processor of the limiter. */
    static class Early implements BeanPostProcessor, Ordered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class Needing extends Early {
        Needing(Service service) {}
    }

    @Test
    void whatAPostProcessorNeedsStopsTheStart() {
        Facts.told(
                App.failure("", Needing.class, Service.class),
                "RL-134",
                "@RateLimited",
                "bean 'escapesTest.Service'",
                Service.class.getName(),
                "post processor",
                "ObjectProvider",
                "@Lazy",
                "AspectJ");
    }

    /** As a client that a factory makes. */
    public interface Remote {
        @RateLimited(limits = "1/1h", key = "global")
        String call();
    }

    static class Making implements FactoryBean<Remote> {
        @Override
        public Remote getObject() {
            return (Remote) Proxy.newProxyInstance(
                    Remote.class.getClassLoader(), new Class<?>[] {Remote.class}, (proxy, method, arguments) -> "done");
        }

        @Override
        public Class<?> getObjectType() {
            return Remote.class;
        }
    }

    static class Limiting extends Making {
        @RateLimited(limits = "1/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    @Test
    void aFactoryThatIsLimitedItselfStopsTheStart() {
        Facts.told(
                App.message(() -> App.ofClasses("", Limiting.class).close()),
                "RL-134",
                "bean 'escapesTest.Limiting'",
                Limiting.class.getName(),
                "factory",
                "another bean");
    }

    static class NeedingRemote extends Early {
        NeedingRemote(Remote remote) {}
    }

    @Test
    void theProductOfAFactoryThatAPostProcessorNeedsStopsTheStart() {
        Facts.told(
                App.failure("", NeedingRemote.class, Making.class),
                "RL-134",
                "bean 'escapesTest.Making'",
                "post processor",
                "@Lazy");
        try (App app = App.of("", Keeping.class, Making.class)) {
            assertEquals(1, App.passes(5, app.bean(Remote.class)::call));
        }
    }

    static class Wrapping extends Early {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
            return bean instanceof Once once
                    ? Proxy.newProxyInstance(
                            getClass().getClassLoader(),
                            new Class<?>[] {Callable.class},
                            (proxy, method, arguments) -> method.invoke(once, arguments))
                    : bean;
        }
    }

    @Test
    void whatAnotherOneHidesStopsTheStart() {
        Facts.told(
                App.failure("", Wrapping.class, Once.class),
                "RL-134",
                "@RateLimited",
                "bean 'escapesTest.Once'",
                "another post processor",
                "$Proxy",
                "interface",
                "AspectJ");
    }

    @Configuration(proxyBeanMethods = false)
    static class Facades {
        @Bean
        Service inner() {
            return new Service();
        }

        @Bean
        ProxyFactoryBean facade() {
            ProxyFactoryBean facade = new ProxyFactoryBean();
            facade.setTargetName("inner");
            facade.setProxyTargetClass(true);
            return facade;
        }

        @Bean
        Service another(Service inner) {
            ProxyFactory facade = new ProxyFactory(inner);
            facade.setProxyTargetClass(true);
            return (Service) facade.getProxy();
        }
    }

    @Test
    void whatStandsBeforeALimitedBeanIsNotLimitedAgain() {
        for (String name : new String[] {"inner", "facade", "another"}) {
            try (App app = App.ofClasses("", Facades.class)) {
                assertEquals(1, App.passes(5, ((Service) app.context().getBean(name))::call), name);
            }
        }
    }

    static class Beside implements Callable<String> {
        @Override
        public String call() {
            return aside();
        }

        @RateLimited(limits = "1/1h", key = "global")
        public String aside() {
            return "done";
        }
    }

    @Test
    void aMethodOfNoInterfaceIsOutOfReachOfAProxyOfInterfaces() {
        Facts.told(
                App.failure("", Beside.class),
                "RL-130",
                "@RateLimited",
                Beside.class.getName() + ".aside()",
                "no interface",
                "proxy",
                "another bean",
                "AspectJ");
        try (App app = App.ofClasses("", Beside.class)) {
            assertEquals(1, App.passes(5, app.bean(Beside.class)::aside));
        }
    }

    @Test
    void anObjectThatWasRegisteredIsNoBean() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(Limiter.class, () -> Limiter.start(App.config("")));
            context.getBeanFactory().registerSingleton("service", new Service());
            context.register(App.OfClasses.class);
            Facts.told(
                    App.message(context::refresh),
                    "RL-134",
                    "@RateLimited",
                    "bean 'service'",
                    Service.class.getName(),
                    "registered");
        }
    }

    static class Once implements Callable<String> {
        @Override
        @RateLimited(limits = "1/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    static class Twice implements Callable<String> {
        @Override
        @RateLimited(limits = "2/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    static class Free implements Callable<String> {
        @Override
        public String call() {
            return "done";
        }
    }

    static class Changing {
        private boolean wasAsked;

        @Bean
        @Scope("prototype")
        Callable<String> one() {
            Callable<String> made = wasAsked ? new Free() : new Once();
            wasAsked = true;
            return made;
        }
    }

    @Test
    void aBeanOfAScopeMayHaveAnotherClassEachTime() {
        try (App app = App.of("", Changing.class)) {
            assertEquals(1, App.passes(5, app.context().getBean("one", Callable.class)));
            assertEquals(5, App.passes(5, app.context().getBean("one", Callable.class)));
        }
    }

    record Order(String customer) {}

    interface Taking {
        @RateLimited(limits = "1/1h", key = "#order.customer")
        Order take(Order order);
    }

    @RateLimited(limits = "1/1h", key = "global")
    interface Listing {
        String list();
    }

    /** Knows neither of the interfaces. */
    abstract static class Crud<T> {
        public T take(T one) {
            return one;
        }

        public String list() {
            return "all";
        }

        public String unlimited() {
            return "done";
        }
    }

    static class Orders extends Crud<Order> implements Taking, Listing {}

    @Test
    void annotationsOfAnInterfaceThatASuperclassImplementsUnknowingly() {
        try (App app = App.of("", Orders.class)) {
            assertEquals(1, App.passes(5, () -> app.bean(Taking.class).take(new Order("a"))));
            assertEquals(1, App.passes(5, app.bean(Listing.class)::list));
        }
        try (App app = App.ofClasses("", Orders.class)) {
            Crud<Order> crud = app.bean(Orders.class);
            assertEquals(1, App.passes(5, () -> app.bean(Taking.class).take(new Order("a"))));
            assertEquals(0, App.passes(5, () -> crud.take(new Order("a"))), "the same method");
            assertEquals(1, App.passes(5, () -> crud.take(new Order("b"))));
            assertEquals(1, App.passes(5, crud::list));
            assertEquals(5, App.passes(5, crud::unlimited));
        }
    }

    @Test
    void ofOtherClasses() {
        try (App app = App.of("", Once.class)) {
            Callable<?> bean = app.bean(Callable.class);
            assertEquals(1, App.passes(5, bean));
            replace(bean, new Twice());
            assertEquals(2, App.passes(5, bean));
            replace(bean, new Free());
            assertEquals(5, App.passes(5, bean));
            replace(bean, new Once());
            assertEquals(0, App.passes(5, bean), "its limit is used up");
        }
    }

    @Test
    void proxiesOfOneClass() {
        try (App app = App.of("", Once.class)) {
            Callable<?> bean = app.bean(Callable.class);
            Object once = proxy(new Once());
            Object twice = proxy(new Twice());
            assertSame(once.getClass(), twice.getClass());
            // Spring chooses the advice of a method once, by the class of the first target.
            assertEquals(1, App.passes(5, bean));
            replace(bean, twice);
            assertEquals(2, App.passes(5, bean));
            replace(bean, once);
            assertEquals(0, App.passes(5, bean), "its limit is used up");
            replace(bean, proxy(new Free()));
            assertEquals(5, App.passes(5, bean));
        }
    }

    private static void replace(Object bean, Object target) {
        ((Advised) bean).setTargetSource(new SingletonTargetSource(target));
    }

    private static Object proxy(Callable<?> target) {
        return new ProxyFactory(target).getProxy();
    }
}
