package io.limiter.spring.weaving;

import io.limiter.spring.RateLimited;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.data.annotation.Id;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.invoker.HttpExchangeAdapter;
import org.springframework.web.service.invoker.HttpRequestValues;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;

/** Who makes the object of an annotated interface. */
enum BeanMaker {
    JDK_PROXY(JdkProxy.class),
    /** As those of Feign and MyBatis. */
    FACTORY_BEAN(OfFactory.class),
    HTTP_EXCHANGE(OfHttp.class),
    /** Of Spring Data. */
    REPOSITORY(Repositories.class),
    INTERCEPTORS(Interceptors.class),
    OWN_CLASS(OwnClass.class),
    OWN_SUBCLASS(OwnSubclass.class),
    OPAQUE(Opaque.class),
    FROZEN(Frozen.class);

    final Class<?> beans;

    BeanMaker(Class<?> beans) {
        this.beans = beans;
    }

    /** What it inherits. */
    public interface Base<T> {
        @GetExchange("/inherited")
        String inherited();

        String take(T it);
    }

    /** An interface with an annotation in every possible place. */
    public interface Remote extends Base<String> {
        @GetExchange("/one")
        @RateLimited(limits = "2/1h", key = "global")
        String one();

        /** As it is called by those who only know the interface above. */
        @Override
        @GetExchange("/take")
        @RateLimited(limits = "2/1h", key = "global")
        String take(String it);

        @GetExchange("/denied")
        @RateLimited(limits = "2/1h", key = "global", fallback = "instead")
        String denied();

        default String instead() {
            return "instead";
        }

        @RateLimited(limits = "2/1h", key = "global")
        default String byDefault() {
            return inherited();
        }
    }

    /** One whose annotation is for all its methods, also for those that it inherits. */
    @RateLimited(limits = "2/1h", key = "global")
    public interface Whole extends Base<String> {
        @GetExchange("/own")
        String own();

        @Override
        @GetExchange("/take")
        String take(String it);
    }

    public record Item(@Id String id) {}

    /** A repository: some of its methods are those of a class of Spring Data. */
    public interface Items extends CrudRepository<Item, String> {
        @RateLimited(limits = "2/1h", key = "global")
        Iterable<Item> findByIdNot(String id);

        @Override
        @RateLimited(limits = "2/1h", key = "global")
        long count();

        @Override
        @RateLimited(limits = "2/1h", key = "global")
        <S extends Item> S save(S item);

        @RateLimited(limits = "2/1h", key = "global", fallback = "nothing")
        Iterable<Item> findByIdIsNull();

        default Iterable<Item> nothing() {
            return List.of(new Item("instead"));
        }

        @RateLimited(limits = "2/1h", key = "global")
        default String byDefault() {
            return "done";
        }
    }

    @RateLimited(limits = "2/1h", key = "global")
    public interface WholeItems extends CrudRepository<Item, String> {}

    static InvocationHandler handler() {
        return (proxy, method, arguments) -> method.isDefault()
                ? InvocationHandler.invokeDefault(proxy, method, arguments)
                : method.getName().equals("hashCode") ? (Object) 1 : method.getName();
    }

    /** Calls default methods by reflection, which knows no proxy of a class. */
    static MethodInterceptor interceptor() {
        return call -> {
            Object proxy = ((ProxyMethodInvocation) call).getProxy();
            return call.getMethod().isDefault() && Proxy.isProxyClass(proxy.getClass())
                    ? InvocationHandler.invokeDefault(proxy, call.getMethod(), call.getArguments())
                    : call.getMethod().getName();
        };
    }

    @SuppressWarnings("unchecked")
    static <T extends Base<String>> T jdkProxy(Class<T> type) {
        return (T) Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {Base.class, type}, handler());
    }

    static Object advised(Class<?> type, Object target, boolean ofClass, boolean opaque) {
        ProxyFactory factory = new ProxyFactory();
        factory.setInterfaces(type);
        if (target != null) {
            factory.setTarget(target);
        }
        factory.setProxyTargetClass(ofClass);
        factory.setOpaque(opaque);
        factory.addAdvice(interceptor());
        return factory.getProxy();
    }

    /** The beans of most. */
    abstract static class Made {
        abstract Object made(Class<? extends Base<String>> type);

        @Bean
        Remote remote() {
            return (Remote) made(Remote.class);
        }

        @Bean
        Whole whole() {
            return (Whole) made(Whole.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class JdkProxy extends Made {
        @Override
        Object made(Class<? extends Base<String>> type) {
            return jdkProxy(type);
        }
    }

    record Making<T extends Base<String>>(Class<T> type) implements FactoryBean<T> {
        @Override
        public T getObject() {
            return jdkProxy(type);
        }

        @Override
        public Class<?> getObjectType() {
            return type;
        }
    }

    static class OfFactory {
        @Bean
        Making<Remote> remote() {
            return new Making<>(Remote.class);
        }

        @Bean
        Making<Whole> whole() {
            return new Making<>(Whole.class);
        }
    }

    /** Answers instead of a server. */
    static final class Answers implements HttpExchangeAdapter {
        @Override
        public boolean supportsRequestAttributes() {
            return false;
        }

        @Override
        public void exchange(HttpRequestValues request) {}

        @Override
        public HttpHeaders exchangeForHeaders(HttpRequestValues request) {
            return new HttpHeaders();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T exchangeForBody(HttpRequestValues request, ParameterizedTypeReference<T> type) {
            return (T) "done";
        }

        @Override
        public ResponseEntity<Void> exchangeForBodilessEntity(HttpRequestValues request) {
            return ResponseEntity.ok().build();
        }

        @Override
        public <T> ResponseEntity<T> exchangeForEntity(HttpRequestValues request, ParameterizedTypeReference<T> type) {
            return ResponseEntity.ok(exchangeForBody(request, type));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OfHttp extends Made {
        private final HttpServiceProxyFactory factory = HttpServiceProxyFactory.builderFor(new Answers())
                .customArgumentResolver((argument, parameter, request) -> true)
                .build();

        @Override
        Object made(Class<? extends Base<String>> type) {
            return factory.createClient(type);
        }
    }

    @EnableMapRepositories(
            considerNestedRepositories = true,
            includeFilters =
                    @Filter(
                            type = FilterType.ASSIGNABLE_TYPE,
                            classes = {Items.class, WholeItems.class}))
    static class Repositories {}

    @Configuration(proxyBeanMethods = false)
    static class Interceptors extends Made {
        @Override
        Object made(Class<? extends Base<String>> type) {
            return advised(type, null, false, false);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClass extends Made {
        @Override
        Object made(Class<? extends Base<String>> type) {
            return advised(type, new SyncTaskExecutor(), false, false);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnSubclass extends Made {
        @Override
        Object made(Class<? extends Base<String>> type) {
            return advised(type, new SyncTaskExecutor(), true, false);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Opaque extends Made {
        @Override
        Object made(Class<? extends Base<String>> type) {
            return advised(type, null, false, true);
        }
    }

    static class Frozen {
        @Bean
        ProxyFactoryBean remote() {
            return frozen(Remote.class);
        }

        @Bean
        ProxyFactoryBean whole() {
            return frozen(Whole.class);
        }

        private static ProxyFactoryBean frozen(Class<?> type) {
            ProxyFactoryBean factory = new ProxyFactoryBean();
            factory.setInterfaces(type);
            factory.addAdvice(interceptor());
            factory.setFrozen(true);
            return factory;
        }
    }
}
