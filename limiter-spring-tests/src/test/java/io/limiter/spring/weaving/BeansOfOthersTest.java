package io.limiter.spring.weaving;

import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.weaving.BeanMaker.Base;
import io.limiter.spring.weaving.BeanMaker.Item;
import io.limiter.spring.weaving.BeanMaker.Items;
import io.limiter.spring.weaving.BeanMaker.Remote;
import io.limiter.spring.weaving.BeanMaker.Whole;
import io.limiter.spring.weaving.BeanMaker.WholeItems;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.data.repository.CrudRepository;

/**
 * Annotations of public interfaces whose objects others make: all of 5 calls above {@code 2/1h} are denied, once each.
 * Runs also where classes are woven, which makes no difference to such beans.
 */
class BeansOfOthersTest {
    private static final int CALLS = 5;

    private static Map<String, Callable<?>> calls(App app, BeanMaker maker) {
        Map<String, Callable<?>> calls = new LinkedHashMap<>();
        if (maker == BeanMaker.REPOSITORY) {
            CrudRepository<Item, String> items = app.bean(Items.class);
            calls.put("query", () -> app.bean(Items.class).findByIdNot("x"));
            calls.put("of its class, with its own annotation", items::count);
            calls.put("generic, by its superinterface", () -> items.save(new Item("x")));
            calls.put("default", app.bean(Items.class)::byDefault);
            calls.put("class-wide", app.bean(WholeItems.class)::count);
            return calls;
        }
        Remote remote = app.context().getBean("remote", Remote.class);
        Whole whole = app.context().getBean("whole", Whole.class);
        Base<String> generic = remote;
        calls.put("own", remote::one);
        calls.put("generic, by its superinterface", () -> generic.take("x"));
        calls.put("default", remote::byDefault);
        calls.put("class-wide, inherited", whole::inherited);
        return calls;
    }

    @ParameterizedTest
    @EnumSource(BeanMaker.class)
    void aDefaultMethodIsTheirFallback(BeanMaker maker) throws Exception {
        try (App app = App.ofClasses("", maker.beans)) {
            Callable<?> call = maker == BeanMaker.REPOSITORY
                    ? app.bean(Items.class)::findByIdIsNull
                    : app.context().getBean("remote", Remote.class)::denied;
            List<String> answers = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                answers.add(String.valueOf(call.call()));
            }
            long denied =
                    answers.stream().filter(one -> one.contains("instead")).count();
            assertEquals(3, denied, answers::toString);
        }
    }

    @ParameterizedTest
    @EnumSource(BeanMaker.class)
    void areLimited(BeanMaker maker) {
        for (boolean ofClasses : new boolean[] {false, true}) {
            try (App app = ofClasses ? App.ofClasses("", maker.beans) : App.of("", maker.beans)) {
                Map<String, Integer> passed = new LinkedHashMap<>();
                calls(app, maker).forEach((name, call) -> passed.put(name, passes(CALLS, call)));
                Map<String, Integer> expected = new LinkedHashMap<>();
                passed.keySet().forEach(name -> expected.put(name, 2));
                assertEquals(expected, passed);
            }
        }
    }

    static class Doubled {
        @Bean
        Remote remote() {
            return BeanMaker.jdkProxy(Remote.class);
        }

        @Bean
        Remote again(Remote remote) {
            return remote;
        }

        @Bean
        Remote facade(@Qualifier("remote") Remote remote) {
            return (Remote) new ProxyFactory(remote).getProxy();
        }

        @Bean
        ProxyFactoryBean another() {
            ProxyFactoryBean facade = new ProxyFactoryBean();
            facade.setInterfaces(Remote.class);
            facade.setTargetName("remote");
            return facade;
        }

        /** Its own annotation replaces that of its interface. */
        @Bean
        Remote annotated() {
            return new Annotated();
        }
    }

    static final class Annotated implements Remote {
        @Override
        @RateLimited(limits = "2/1h", key = "global")
        public String one() {
            return "done";
        }

        @Override
        public String inherited() {
            return "done";
        }

        @Override
        public String take(String it) {
            return it;
        }

        @Override
        public String denied() {
            return "done";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"remote", "again", "facade", "another", "annotated"})
    void countOnce(String name) {
        try (App app = App.ofClasses("", Doubled.class)) {
            assertEquals(2, passes(CALLS, app.context().getBean(name, Remote.class)::one));
        }
    }
}
