package io.limiter.spring.internal;

import static io.limiter.spring.App.caller;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.spring.Caller;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** Every expression that is read directly has the value, or the error, that the interpreter gives. */
class DirectValueTest {
    /** Properties of all kinds; the names of each are in {@link #NAMES}. */
    public static class Bean {
        public final String open = "field";
        public static final String FIXED = "constant";
        public String name = "hidden by the getter";
        public String hashCode = "of the field";

        public String getName() {
            return "getter";
        }

        public boolean isActive() {
            return true;
        }

        /** Not boolean, so no getter. */
        public String isOdd() {
            return "odd";
        }

        public String getBoth() {
            return "get";
        }

        public boolean isBoth() {
            return true;
        }

        public String both() {
            return "plain";
        }

        public Object getNothing() {
            return null;
        }

        public String getURL() {
            return "upper";
        }

        public String getxAxis() {
            return "lower";
        }

        public static String getOfClass() {
            return "static";
        }

        public String getBroken() {
            throw new IllegalStateException("broken");
        }

        public String getSerious() {
            throw new StackOverflowError("serious");
        }

        public void empty() {}

        protected String getGuarded() {
            return "guarded";
        }

        public Bean getSelf() {
            return this;
        }
    }

    /** Has a getter where its superclass has a plain method. */
    public static class Sub extends Bean {
        public String getIsOdd() {
            return "not odd";
        }

        @Override
        public String getName() {
            return "overridden";
        }

        @Override
        public String toString() {
            return "sub";
        }
    }

    /** A record. */
    public record Item(String id, Object owner) {}

    /** Not public, of a public interface. */
    private record Hidden(String id) implements Identified {}

    /** Names what it has. */
    public interface Identified {
        /** A text. */
        String id();
    }

    /** A constant with a body has a class of its own. */
    public enum Plan {
        FREE,
        PAID {
            @Override
            public int getPrice() {
                return 5;
            }
        };

        /** In euros. */
        public int getPrice() {
            return 0;
        }
    }

    static class Loader extends ClassLoader {
        public String getSecret() {
            return "secret";
        }
    }

    private static final String[] NAMES =
            ("open FIXED name active odd isOdd both nothing URL xAxis XAxis ofClass broken serious "
                            + "empty guarded self id owner class hashCode toString bytes length size price present "
                            + "secret key value missing declaringClass")
                    .split(" ");

    @SuppressWarnings("unused") // by its parameter
    static void called(Object any) {}

    private static List<Object> values() {
        Item inner = new Item("inner", null);
        return Arrays.asList(
                null,
                "",
                "text",
                "192.0.2.1",
                42,
                42L,
                4.5,
                'c',
                true,
                new UUID(1, 2),
                Thread.State.NEW,
                Plan.FREE,
                Plan.PAID,
                new Bean(),
                new Sub(),
                new Item("1", new Bean()),
                new Item(null, inner),
                new Item("2", new Item("3", inner)),
                new Item("4", Optional.of(inner)),
                new Hidden("hidden"),
                Optional.empty(),
                Optional.of(new Item("present", null)),
                (Principal) () -> "alice",
                (Identified) () -> "lambda",
                List.of("a", "b"),
                new ArrayList<>(List.of(1, 2)),
                Set.of(1),
                new TreeSet<>(Set.of(2)),
                Map.of("key", "value"),
                Map.entry("key", "value"),
                Collections.unmodifiableList(Arrays.asList("x", null)),
                new int[] {1, 2},
                new String[] {"a"},
                String.class,
                Item.class,
                Bean.class.getClassLoader(),
                new Loader(),
                new Object(),
                new StringBuilder("built"));
    }

    private static List<String> expressions() {
        List<String> all = new ArrayList<>(
                List.of(("#any; #p0; #a0; {#any}; {#any, 'x', 7, true, null}; {ip, #any}; {user, #any.id}; ip; "
                                + "user; principal; principal.name; principal?.name; user.length; user?.length; "
                                + "'lit'.bytes; {'c', 'd'}; {}; {{#any}}; #any.owner.id; #any?.owner.id; #any.owner?.id; "
                                + "#any?.owner?.id; #any.owner?.owner?.id; #any.self.self.name; "
                                + "{#any.id, #any?.name, ip}; #any.owner.owner.owner")
                        .split("; ")));
        for (String name : NAMES) {
            all.add("#any." + name);
            all.add("#any?." + name);
        }
        return all;
    }

    @Test
    void allValuesAndErrorsAreThoseOfTheInterpreter() throws Exception {
        int direct = 0;
        for (Caller caller : Arrays.asList(null, caller("192.0.2.7", "alice"), caller("192.0.2.8", null))) {
            MethodScope scope = scope(caller);
            for (String text : expressions()) {
                // One for all values, as an annotation has: what it keeps of a class must not show with the next one.
                CallExpression expression = new CallExpression(scope, "key", text);
                for (int round = 0; round < 2; round++) {
                    for (Object value : values()) {
                        assertEquals(
                                outcome(() -> interpreted(text, scope, value)),
                                outcome(() -> expression.value(new Object[] {value})),
                                () -> text + " of " + (value == null ? null : value.getClass()) + " for " + caller);
                        direct += isDirect(text, scope, value) ? 1 : 0;
                    }
                }
            }
        }
        assertTrue(direct > 3_000, direct + " values were read directly");
    }

    @Test
    void whatIsMeantToBeDirectIs() throws Exception {
        MethodScope scope = scope(caller("192.0.2.7", "alice"));
        Item item = new Item("1", new Item("2", null));
        for (String text : List.of(
                "#any",
                "#p0",
                "#any.id",
                "#any.owner.id",
                "#any?.owner?.owner?.id",
                "ip",
                "user",
                "principal?.name",
                "{ip, #any.id, 'x'}")) {
            assertTrue(isDirect(text, scope, item), text);
        }
        for (Object value : List.of(new Bean(), new Sub())) {
            assertTrue(isDirect("#any.name", scope, value));
        }
        assertTrue(isDirect("#any.id", scope, new Hidden("1")));
    }

    @Test
    void theRestIsTheInterpreters() throws Exception {
        MethodScope scope = scope(null);
        for (String text :
                List.of("#any.id()", "#any[0]", "#any + 'x'", "#any == null", "{#any.id()}", "#any?.size()")) {
            assertSame(null, DirectValue.find(node(text), scope), text);
        }
        for (Object value : List.of(String.class, new Loader(), Optional.of("x"), new Object())) {
            for (String name : List.of("name", "secret", "class", "hashCode")) {
                assertTrue(!isDirect("#any?." + name, scope, value), name);
            }
        }
    }

    private static boolean isDirect(String text, MethodScope scope, Object argument) {
        DirectValue value = DirectValue.find(node(text), scope);
        return value != null && value.of(new Object[] {argument}) != DirectValue.UNKNOWN;
    }

    private static SpelNode node(String text) {
        return ((SpelExpression) new SpelExpressionParser().parseExpression(text)).getAST();
    }

    private static Object interpreted(String text, MethodScope scope, Object argument) {
        return new SpelExpressionParser().parseRaw(text).getValue(new CallVariables(scope, new Object[] {argument}));
    }

    /** A value with its class, which messages name; or what went wrong, without what we put around it. */
    private static List<Object> outcome(Callable<Object> read) {
        try {
            Object value = read.call();
            return value == null
                    ? List.of("null")
                    : List.of(value.getClass(), value instanceof byte[] bytes ? Arrays.toString(bytes) : value);
        } catch (Throwable thrown) {
            Throwable found = thrown;
            while (found.getCause() != null
                    && !String.valueOf(found.getMessage()).startsWith("RL-128")) {
                if (found.getClass() == IllegalStateException.class) {
                    assertNotNull(found.getMessage());
                    assertTrue(found.getMessage().startsWith("RL-132"), found.getMessage());
                }
                found = found.getCause();
            }
            return List.of(found.getClass(), String.valueOf(found.getMessage()));
        }
    }

    private static MethodScope scope(Caller caller) throws NoSuchMethodException {
        var method = DirectValueTest.class.getDeclaredMethod("called", Object.class);
        return new MethodScope(method, method, () -> caller, null);
    }
}
