package io.limiter.spring;

import static io.limiter.spring.App.calling;
import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.PartitionKey;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What expressions can see and do, and what they can't. */
class ExpressionsTest {
    private static final String ONE = "limiter.policies.one.limits = 1/10s\n";

    static class OfAnything {
        @RateLimited(value = "one", key = "#any")
        public void call(Object any) {}
    }

    @Test
    void valuesThatHaveATextAreKeys() {
        UUID id = new UUID(1, 2);
        Map<Object, PartitionKey> keys = Map.of(
                "a:b",
                key("a:b"),
                42,
                key("42"),
                id,
                key(id.toString()),
                Thread.State.NEW,
                key("NEW"),
                (Principal) () -> "alice",
                key("alice"),
                Optional.of("some"),
                key("some"),
                PartitionKey.of(List.of("x", "y")),
                PartitionKey.of(List.of("x", "y")),
                List.of("p", 7),
                key("p", "7"));
        try (App app = App.of(ONE, OfAnything.class)) {
            keys.forEach((value, key) -> {
                assertEquals(1, app.left("one", key));
                app.bean(OfAnything.class).call(value);
                assertEquals(0, app.left("one", key), () -> value + " is the key " + key);
            });
        }
    }

    static class Parts {
        @RateLimited("one")
        public void ofClient() {}

        @RateLimited(value = "one", key = "#user")
        public void ofUser(String user) {}

        @RateLimited(value = "one", key = "{#one, #two}")
        public void ofTwo(Object one, Object two) {}
    }

    @Test
    void aMissingPartIsReplacedByTheClientAndNeverEqualsAGivenOne() {
        try (App app = App.of(ONE, Parts.class)) {
            Parts parts = app.bean(Parts.class);
            assertEquals(1, passes(9, "192.0.2.1", null, calling(() -> parts.ofUser(null))));
            assertEquals(0, passes(9, "192.0.2.1", null, calling(() -> parts.ofUser(""))));
            assertEquals(
                    1, passes(9, "192.0.2.1", null, calling(parts::ofClient)), "nor did they use up the client's own");
            assertEquals(1, passes(9, "192.0.2.2", null, calling(() -> parts.ofUser(null))));
            assertEquals(1, passes(9, "192.0.2.1", null, calling(() -> parts.ofUser("192.0.2.1"))));
            assertEquals(1, passes(9, calling(() -> parts.ofUser(null))), "outside of a request all share one");
            assertEquals(0, passes(9, calling(() -> parts.ofUser(""))));

            assertEquals(1, passes(9, calling(() -> parts.ofTwo("a", Optional.empty()))));
            assertEquals(1, passes(9, calling(() -> parts.ofTwo("a", "@~"))));
            assertEquals(0, passes(9, calling(() -> parts.ofTwo("a", null))));
            assertEquals(1, passes(9, calling(() -> parts.ofTwo("a:b", "c"))));
            assertEquals(1, passes(9, calling(() -> parts.ofTwo("a", "b:c"))));
        }
    }

    static class Words {
        @RateLimited(value = "one", key = " ip ")
        public void ofIp() {}

        @RateLimited(value = "one", key = "user")
        public void ofUser() {}

        @RateLimited(value = "one", key = "principal")
        public void ofPrincipal() {}

        @RateLimited(value = "one", key = "{'p', principal?.name, ip}")
        public void ofAll() {}

        @RateLimited(value = "one", key = "{'c', global == null ? 'x' : 'y'}", condition = "user != 'admin'")
        public void guests() {}
    }

    static class Folds {
        @RateLimited(value = "one", key = "fold(#account)")
        public void login(String account) {}

        @RateLimited(value = "one", key = "{ip, fold(#account)}")
        public void loginFrom(String account) {}
    }

    @Test
    void allSpellingsOfANameAreOneKey() {
        try (App app = App.of(ONE, Folds.class)) {
            Folds folds = app.bean(Folds.class);
            assertEquals(1, passes(9, calling(() -> folds.login("Ann"))));
            assertEquals(0, passes(9, calling(() -> folds.login("\uff41nn."))));
            assertEquals(0, app.left("one", key("ann")));
            assertEquals(1, passes(9, "192.0.2.1", null, calling(() -> folds.loginFrom("Ann"))));
            assertEquals(0, passes(9, "192.0.2.1", null, calling(() -> folds.loginFrom(" ANN"))));
            assertEquals(1, passes(9, "192.0.2.2", null, calling(() -> folds.login(null))));
            assertEquals(0, passes(9, "192.0.2.2", null, calling(() -> folds.login("..."))), "the client's");
        }
    }

    @Test
    void wordsOfTheRequest() {
        try (App app = App.of(ONE, Words.class)) {
            Words words = app.bean(Words.class);
            assertEquals(1, passes(2, "192.0.2.1", "u", calling(words::ofIp)));
            assertEquals(0, app.left("one", PartitionKey.of("192.0.2.1")));
            assertEquals(1, passes(2, "192.0.2.1", "u", calling(words::ofUser)));
            assertEquals(
                    0, app.left("one", PartitionKey.builder().add("user", "u").build()));
            assertEquals(0, passes(2, "192.0.2.1", "u", calling(words::ofPrincipal)), "the same user");
            assertEquals(1, passes(2, "192.0.2.1", null, calling(words::ofUser)), "not logged in: the client");
            assertEquals(1, passes(2, "192.0.2.1", "u", calling(words::ofAll)));
            assertEquals(
                    0,
                    app.left(
                            "one",
                            PartitionKey.builder()
                                    .add("key", "p")
                                    .add("key", "u")
                                    .add("192.0.2.1")
                                    .build()));
            assertEquals(9, passes(9, "192.0.2.1", "admin", calling(words::guests)));
            assertEquals(1, passes(9, "192.0.2.1", "guest", calling(words::guests)));
        }
    }

    static class Reaching {
        @RateLimited(value = "one", key = "#a.getClass().getName()")
        public void method(Object a) {}

        @RateLimited(value = "one", key = "#a.class.name")
        public void property(Object a) {}

        @RateLimited(value = "one", key = "#a.getClassLoader().toString()")
        public void loader(Class<?> a) {}
    }

    @Test
    void noReflectionThroughAParameter() {
        try (App app = App.of(ONE, Reaching.class)) {
            Reaching reaching = app.bean(Reaching.class);
            assertThrows(IllegalStateException.class, () -> reaching.method("x"));
            assertThrows(IllegalStateException.class, () -> reaching.property("x"));
            assertThrows(IllegalStateException.class, () -> reaching.loader(Reaching.class));
        }
    }

    static class Language {
        @RateLimited(
                value = "one",
                key = "{#list.![length()].?[#this > 1].size(), #map['k'], #a ?: 'none', #a matches 'x.*'}")
        public void call(List<String> list, Map<String, String> map, String a) {}
    }

    @Test
    void theLanguageItself() {
        try (App app = App.of(ONE, Language.class)) {
            assertEquals(
                    1,
                    passes(
                            2,
                            calling(() ->
                                    app.bean(Language.class).call(Arrays.asList("a", "bb"), Map.of("k", "v"), "xy"))));
        }
    }

    private static PartitionKey key(String... parts) {
        PartitionKey.Builder key = PartitionKey.builder();
        for (String part : parts) {
            key.add("key", part);
        }
        return key.build();
    }
}
