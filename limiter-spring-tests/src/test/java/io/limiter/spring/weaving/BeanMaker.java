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

    @SuppressWarnings("unchecked")
    static <T extends Base<String>> T advised(Class<T> type, Object target, boolean ofClass, boolean opaque) {
        ProxyFactory factory = new ProxyFactory();
        factory.setInterfaces(type);
        if (target != null) {
            factory.setTarget(target);
        }
        factory.setProxyTargetClass(ofClass);
        factory.setOpaque(opaque);
        factory.addAdvice(interceptor());
        return (T) factory.getProxy();
    }

    static class JdkProxy {
        @Bean
        Remote remote() {
            return jdkProxy(Remote.class);
        }

        @Bean
        Whole whole() {
            return jdkProxy(Whole.class);
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

    static class OfHttp {
        private final HttpServiceProxyFactory factory = HttpServiceProxyFactory.builderFor(new Answers())
                .customArgumentResolver((argument, parameter, request) -> true)
                .build();

        @Bean
        Remote remote() {
            return factory.createClient(Remote.class);
        }

        @Bean
        Whole whole() {
            return factory.createClient(Whole.class);
        }
    }

    @EnableMapRepositories(
            considerNestedRepositories = true,
            includeFilters =
                    @Filter(
                            type = FilterType.ASSIGNABLE_TYPE,
                            classes = {Items.class, WholeItems.class}))
    static class Repositories {}

    static class Interceptors {
        @Bean
        Remote remote() {
            return advised(Remote.class, null, false, false);
        }

        @Bean
        Whole whole() {
            return advised(Whole.class, null, false, false);
        }
    }

    static class OwnClass {
        @Bean
        Remote remote() {
            return advised(Remote.class, new SyncTaskExecutor(), false, false);
        }

        @Bean
        Whole whole() {
            return advised(Whole.class, new SyncTaskExecutor(), false, false);
        }
    }

    static class OwnSubclass {
        @Bean
        Remote remote() {
            return advised(Remote.class, new SyncTaskExecutor(), true, false);
        }

        @Bean
        Whole whole() {
            return advised(Whole.class, new SyncTaskExecutor(), true, false);
        }
    }

    static class Opaque {
        @Bean
        Remote remote() {
            return advised(Remote.class, null, false, true);
        }

        @Bean
        Whole whole() {
            return advised(Whole.class, null, false, true);
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
