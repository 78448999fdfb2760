package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.LimitOutcome.DenialReason;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** {@link RateLimited#member}, of limits that count members and of stocks. */
class MembersTest {
    private static final String POLICIES = """
            limiter.policies.spraying.limits = 2/1h distinct
            limiter.policies.sale.limits = 5 allotment each 2 closes 2100-01-01T00:00:00Z
            limiter.plans.free.limits = 1/1h distinct
            limiter.plans.gold.limits = 3/1h
            """;

    private final App app = App.of(POLICIES, Service.class, Shop.class);
    private final Service service = app.bean(Service.class);

    @AfterEach
    void close() {
        app.close();
    }

    static class Service {
        @RateLimited(value = "spraying", key = "#address", member = "#user")
        public void login(String address, @Nullable String user) {}

        @RateLimited(limits = "2/1h distinct", name = "mono", key = "global", member = "#user")
        public Mono<String> reactive(String user) {
            return Mono.just(user);
        }

        @RateLimited(plan = "#plan", defaultPlan = "free", name = "plans", key = "#plan", member = "#user")
        public void byPlan(String plan, String user) {}

        @RateLimited(plan = "#plan", defaultPlan = "free", name = "monos", key = "#plan", member = "#user")
        public Mono<String> reactiveByPlan(String plan, String user) {
            return Mono.just(user);
        }

        @RateLimited(limits = "3/1h distinct", name = "two", key = "global", member = "#a")
        @RateLimited(limits = "100/1h", name = "beside", key = "global")
        public void several(String a) {}

        @RateLimited(
                limits = "1/1h distinct",
                name = "failing",
                key = "global",
                member = "#user",
                refundOn = IllegalStateException.class)
        public void failing(String user, boolean fails) {
            if (fails) {
                throw new IllegalStateException(user);
            }
        }
    }

    private static void denied(Runnable call) {
        assertThrows(RateLimitExceededException.class, call::run);
    }

    @Test
    void differentMembersAreCounted() {
        for (int round = 0; round < 2; round++) {
            service.login("192.0.2.1", "9007199254740993");
            service.login("192.0.2.1", null);
            service.login("192.0.2.1", "");
            denied(() -> service.login("192.0.2.1", "9007199254740992"));
        }
        service.login("192.0.2.2", "9007199254740992");
        app.time.advance(Duration.ofHours(1));
        service.login("192.0.2.1", "9007199254740992");
    }

    @Test
    void methodsThatDoNotBlockCountThemToo() {
        for (String user : List.of("a", "b", "a")) {
            assertEquals(user, service.reactive(user).block(Duration.ofSeconds(60)));
        }
        denied(() -> service.reactive("c").block(Duration.ofSeconds(60)));
    }

    @Test
    void aStoredCallHasItsMemberWhereThePolicyBeginsToCountThem() {
        Mono<String> first = service.reactiveByPlan("gold", "a");
        Mono<String> second = service.reactiveByPlan("gold", "b");
        String replaced = POLICIES.replace("gold.limits = 3/1h", "gold.limits = 1/1h distinct");
        app.bean(Limiter.class).replace(App.config(replaced));
        first.block(Duration.ofSeconds(60));
        first.block(Duration.ofSeconds(60));
        denied(() -> second.block(Duration.ofSeconds(60)));
    }

    @Test
    void aPlanWithoutMembersIgnoresThem() {
        service.byPlan("free", "a");
        denied(() -> service.byPlan("free", "b"));
        service.byPlan("free", "a");
        for (String user : List.of("a", "a", "b")) {
            service.byPlan("gold", user);
        }
        denied(() -> service.byPlan("gold", "a"));
    }

    @Test
    void annotationsBesideItTakeTheirOwn() {
        for (String user : List.of("a", "b", "c", "a")) {
            service.several(user);
        }
        denied(() -> service.several("d"));
    }

    @Test
    void onlyTheCallThatAddedAMemberGivesItBack() {
        assertThrows(IllegalStateException.class, () -> service.failing("a", true));
        service.failing("b", false);
        assertThrows(IllegalStateException.class, () -> service.failing("b", true));
        denied(() -> service.failing("a", false));
        assertDoesNotThrow(() -> service.failing("b", false));
    }

    static class Shop {
        @RateLimited(value = "sale", key = "global", member = "#user", permits = "#quantity")
        public void buy(String user, int quantity) {}
    }

    private static DenialReason reason(Runnable call) {
        return assertThrows(RateLimitExceededException.class, call::run)
                .decision()
                .binding()
                .orElseThrow()
                .reason();
    }

    @Test
    void aCallBuysWhatItCosts() {
        Shop shop = app.bean(Shop.class);
        shop.buy("ann", 2);
        assertEquals(DenialReason.ALREADY_HAD, reason(() -> shop.buy("ann", 1)));
        assertEquals(DenialReason.QUANTITY, reason(() -> shop.buy("bob", 3)));
        shop.buy("bob", 2);
        assertEquals(DenialReason.SOLD_OUT, reason(() -> shop.buy("eve", 2)));
        shop.buy("eve", 0);
        shop.buy("eve", 1);
    }
}
