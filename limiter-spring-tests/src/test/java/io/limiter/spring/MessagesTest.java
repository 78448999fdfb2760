package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.limiter.kit.Facts;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.test.tools.SourceFile;
import org.springframework.core.test.tools.TestCompiler;

/** Each mistake in an annotation is reported when the bean is created, or by the call that shows it, with the method and the remedy. */
class MessagesTest {
    private static final String HERE = MessagesTest.class.getName() + "$";
    private static final String CONFIG = """
            limiter.policies.vote.limits = 3/10s
            limiter.policies.members.limits = 2/1h distinct
            limiter.policies.login.limits = 1/1h
            limiter.policies.login.block = 2/10m for 15m up to 24h
            limiter.plans.free.limits = 1/1h
            """;

    /** What a class named It has, or that class; below it the code of the message, and what else this must contain. */
    private static final String MISTAKES = """
            @RateLimited(value = "vot", key = "global") void vote(String choice, int weight) {}
            RL-120 | 'vot' | [vote, members, login] | limiter.policies.vot.limits = 3/10s
            @RateLimited(value = "vote", limits = "3/10s", key = "global") void vote() {}
            RL-121 | @RateLimited("vote") | limiter.policies.vote | limits = "3/10s" | plan = | defaultPlan = | keep or add one
            @RateLimited(key = "global") void vote() {}
            RL-121 | @RateLimited("vote") | limiter.policies.vote | limits = "3/10s" | plan = | defaultPlan = | keep or add one
            @RateLimited(plan = "#p0", defaultPlan = "free", limits = "1/1h", key = "global") void vote(String plan) {}
            RL-121 | keep or add one
            @RateLimited(plan = "#p0", key = "global") void vote(String plan) {}
            RL-121 | together with defaultPlan
            @RateLimited(value = "vote", name = "other", key = "global") void vote() {}
            RL-121 | without a name | keep or add one
            @RateLimited(value = "login", block = "2/10m for 15m up to 24h", key = "#account") void vote(String account) {}
            RL-121
            @RateLimited(value = "vote", fallback = "a") @RateLimited(limits = "1/1m", fallback = "b") void vote() {} void a() {} void b() {}
            RL-121 | [a, b] | keep one
            @RateLimited(limits = "3 per 10s", key = "global") void vote() {}
            RL-122 | limits = "3 per 10s" | '3' | such as 3/10s
            @RateLimited(value = "vote", key = "#choice + ") void vote(String choice) {}
            RL-123 | key = "#choice + " | #user
            @RateLimited(value = "vote", key = "global", condition = "#choice ==") void vote(String choice) {}
            RL-123 | condition = "#choice ==" | #user
            @RateLimited(value = "vote", key = "global", permits = "2.") void vote() {}
            RL-123 | permits = "2." | #user
            @RateLimited(value = "vote", key = "global", permits = " ") void vote() {}
            RL-123 | permits = " " | #user
            @RateLimited(plan = "header:X-Plan", defaultPlan = "free", key = "global") void vote(String plan) {}
            RL-123 | is not an expression
            @RateLimited(value = "vote", key = "ip + header:X-Api-Key") void vote(String choice) {}
            RL-123 | key = "ip + header:X-Api-Key" | limiter.rules | @RequestHeader("X-Api-Key") String it | #it
            @RateLimited(value = "vote", key = "{ip, #choise.trim()}") void vote(String choice, int weight) {}
            RL-124 | key = "{ip, #choise.trim()}" | '#choise' | #choice, #weight
            @RateLimited(value = "vote", key = "choice") void vote(String choice) {}
            RL-124 | key = "choice" | 'choice' | #choice
            @RateLimited(value = "vote", key = "all") void vote(String choice) {}
            RL-124 | key = "all" | 'all' | ip, user, principal, global | quotes | #all
            @RateLimited(value = "vote", key = "@keys.of(#choice)") void vote(String choice) {}
            RL-124 | key = "@keys.of(#choice)" | '@keys' | bean | define
            @RateLimited(value = "vote", key = "#root") void vote(String root) {}
            RL-124 | key = "#root" | '#root' | #p0
            @RateLimited(value = "vote", key = "T(java.lang.Runtime).getRuntime().exec(#a).pid()") void vote(String a) {}
            RL-124 | 'T(java.lang.Runtime)' | type | bean | @keys.of(#p0)
            @RateLimited(value = "vote", key = "new java.io.File(#a).delete()") void vote(String a) {}
            RL-124
            @RateLimited(value = "vote", key = "#a = 'x'") void vote(String a) {}
            RL-124
            @RateLimited(value = "vote", key = "#a++") void vote(int a) {}
            RL-124
            @RateLimited(value = "vote", key = "#f(#a)") void vote(String a) {}
            RL-124
            @RateLimited(value = "vote", key = "getClass()") void vote(String a) {}
            RL-124
            @RateLimited(value = "vote", key = "{#a.?[#this != T(String)]}") void vote(List<String> a) {}
            RL-124
            @RateLimited(value = "vote", key = "global", fallback = "later") void vote(String choice) {} String later(int choice) { return ""; }
            RL-125 | fallback = "later" | String later(int) | void later(String) | Decision
            @RateLimited(value = "vote", key = "global", fallback = "no") String vote(int a) { return ""; } void no(int a, Decision d) {}
            RL-125 | fallback = "no" | void no(int, Decision) | String no(int)
            @RateLimited(value = "vote", key = "global", fallback = "vote") void vote(String choice) {}
            RL-125 | fallback = "vote" | no other | void vote(String) | Decision
            @RateLimited(value = "vote", key = "global", fallback = "no") class It { public void vote() {} public void no() {} public void no(int a) {} }
            RL-125 | .no(int) | fallback = "no" | void no() | void no(int) | Decision
            @RateLimited(limits = "3/10s", key = "global") void aMethodWhoseNameIsLongerThanTheSixtyFourCharactersThatAreAllowed() {}
            RL-127 | .aMethodWhoseNameIsLongerThanTheSixtyFourCharactersThatAreAllowed' | 1 to 64 | A-Z a-z 0-9 . _ - | name = "..."
            @RateLimited(limits = "3/10s", name = "my votes", key = "global") void vote() {}
            RL-127 | name = "my votes" | 1 to 64 | A-Z a-z 0-9 . _ - | name = "..."
            @RateLimited(value = "vote", key = "global") private void vote() {}
            RL-130 | private | proxy | another bean | AspectJ
            @RateLimited(value = "vote", key = "global") static void vote() {}
            RL-130 | static | proxy | another bean | AspectJ
            @RateLimited(value = "vote", key = "global") public final void vote() {}
            RL-130 | is final | proxy | another bean | AspectJ
            final class It { @RateLimited(value = "vote", key = "global") public void vote() {} }
            RL-130 | final class | proxy | another bean | AspectJ
            static class Special extends CompletableFuture<String> {} @RateLimited("vote") Special vote() { return null; }
            RL-131 | $Special | CompletionStage, CompletableFuture | Mono, Flux | Publisher
            @RateLimited("vote") Flow.Publisher<String> vote() { return null; }
            RL-131 | java.util.concurrent.Flow$Publisher | CompletionStage, CompletableFuture | Mono, Flux | Publisher
            @RateLimited(value = "vote", key = "global", permits = "-1") void vote() {}
            RL-132 | permits = "-1" | -1; | 0 to 4503599627370496 | #items.size()
            @RateLimited(value = "vote", key = "global", permits = "1.5") void vote() {}
            RL-132 | permits = "1.5" | java.lang.Double | 0 to 4503599627370496 | #items.size()
            @RateLimited(value = "vote", key = "global", permits = "4") void vote() {}
            RL-132 | permits = "4" | '3/10s sliding-list name vote' | 'vote' | lower | raise
            @RateLimited(value = "vote", key = "global", condition = "'yes'") void vote() {}
            RL-132 | condition = "'yes'" | java.lang.String | true or false | #size > 10
            @RateLimited(value = "members", member = "#user", permits = "2") void vote(String user) {}
            RL-132
            @RateLimited(value = "members", member = "#user", permits = "#cost") void vote(String user, int cost) {}
            RL-132
            @RateLimited(value = "members", member = "#user", maxWait = "1s") Mono<String> vote(String user) { return null; }
            RL-148
            @RateLimited(limits = "1/1s", key = "global", maxWait = "1s") String vote() { return ""; }
            RL-148 | maxWait
            @RateLimited(limits = "1/1s", key = "global", maxWait = "0s") Mono<String> vote() { return null; }
            RL-148 | maxWait
            @RateLimited(limits = "1/1s", key = "global", maxWait = "61s") Mono<String> vote() { return null; }
            RL-148 | maxWait
            @RateLimited(limits = "1/1s", key = "global", maxWait = "soon") Mono<String> vote() { return null; }
            RL-148 | maxWait
            @RateLimited(value = "vote", member = "#user") void vote(String user) {}
            RL-163
            @RateLimited("members") void vote() {}
            RL-164
            @RateLimited(value = "members", member = "global") void vote() {}
            RL-164
            @RateLimited(value = "members", member = "'all'") void vote() {}
            RL-164
            @RateLimited(value = "members", key = "#user", member = "#user") void vote(String user) {}
            RL-164
            @RateLimited(value = "members", key = "{ip, #user}", member = " #user") void vote(String user) {}
            RL-164
            @RateLimited(value = "members", member = "ip") void vote() {}
            RL-164
            @RateLimited(plan = "#p0", defaultPlan = "fre", key = "global") void vote(String plan) {}
            RL-169 | there is no such plan
            @RateLimited(limits = "1/1h", block = "2/10m", key = "global") void vote() {}
            RL-122 | limits = "1/1h": RL-176
            @RateLimited(value = "login", key = "global", maxWait = "500ms") Mono<String> vote() { return null; }
            RL-177
            """;

    /** The classes of the table, and the facts of each. */
    static Stream<Arguments> mistakes() {
        List<String> lines = MISTAKES.lines().toList();
        Map<String, Class<?>> compiled = new HashMap<>();
        TestCompiler.forSystem()
                .withCompilerOptions("-parameters")
                .withSources(IntStream.range(0, lines.size() / 2)
                        .mapToObj(i -> source(lines.get(2 * i), i))
                        .toList())
                .compile(all -> all.getAllCompiledClasses().forEach(one -> compiled.put(one.getSimpleName(), one)));
        return IntStream.range(0, lines.size() / 2)
                .mapToObj(i -> arguments(Named.of(lines.get(2 * i), compiled.get("It" + i)), lines.get(2 * i + 1)));
    }

    private static SourceFile source(String line, int number) {
        String type = line.contains("class It ") ? line : "class It { " + line + " }";
        return SourceFile.of("package io.limiter.spring;\nimport io.limiter.Decision;\nimport java.util.*;\n"
                + "import java.util.concurrent.*;\nimport reactor.core.publisher.Mono;\n"
                + type.replace("class It ", "class It" + number + " "));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void isReportedWhenTheBeanIsCreated(Class<?> bean, String facts) {
        String method = Arrays.stream(bean.getDeclaredMethods())
                .filter(one -> one.getAnnotations().length > 0)
                .map(MessagesTest::text)
                .findFirst()
                .orElse("");
        told(App.failure(CONFIG, bean), facts + " | @RateLimited | " + bean.getName() + "." + method);
    }

    @Test
    void aMethodOfThePackageOfASuperclassIsReported() {
        TestCompiler.forSystem()
                .withSources(
                        SourceFile.of("package a; public class Base { @io.limiter.spring.RateLimited(limits = \"1/1h\","
                                + " key = \"global\") void vote() {} }"),
                        SourceFile.of("package b; public class It extends a.Base {}"))
                .compile(all -> told(
                        App.failure("", all.getAllCompiledClasses().toArray(Class[]::new)),
                        "RL-130 | @RateLimited | a.Base.vote() | package-private | another package"));
    }

    static class Votes {
        @RateLimited(limits = "3/10s", key = "global")
        public void vote() {}
    }

    static class Elsewhere {
        static class Votes {
            @RateLimited(limits = "3/10s", key = "global")
            public void vote() {}
        }
    }

    static class Overloaded {
        @RateLimited(limits = "3/10s", key = "global")
        public void vote(String choice) {}

        @RateLimited(limits = "5/10s", key = "global")
        public void vote(int choice) {}
    }

    static class Copied {
        @RateLimited(limits = "3/10s", name = "sms", key = "global")
        public void one() {}

        @RateLimited(limits = "3/10s", name = "sms", key = "global")
        public void other() {}
    }

    static Stream<Arguments> names() {
        return Stream.of(
                arguments(
                        "",
                        List.of(Overloaded.class),
                        "'Overloaded.vote' | Overloaded.vote(String) | Overloaded.vote(int)"),
                arguments(
                        "",
                        List.of(Votes.class, Elsewhere.Votes.class),
                        "'Votes.vote' | Votes.vote() | Elsewhere$Votes.vote()"),
                arguments("", List.of(Copied.class), "'sms' | Copied.one() | Copied.other()"),
                arguments(
                        "limiter.policies.Votes.vote.limits = 1/1s",
                        List.of(Votes.class),
                        "'Votes.vote', which is the one of the configuration | Votes.vote()"),
                arguments(
                        "limiter.rules.Votes.vote.limits = 1/1s\nlimiter.rules.Votes.vote.path = /*",
                        List.of(Votes.class),
                        "'Votes.vote', which is the one of the configuration | Votes.vote()"));
    }

    @ParameterizedTest
    @MethodSource("names")
    void aNameThatIsSharedByAccidentIsReported(String configured, List<Class<?>> beans, String facts) {
        String message = App.failure(CONFIG + configured, beans.toArray(Class[]::new));
        told(
                message,
                "RL-126 | @RateLimited | name = \"...\" | limiter.policies.<name>.limits | "
                        + facts.replace(" | ", " | " + HERE));
    }

    record Order(String customer) {}

    static class Calls {
        @RateLimited("vote")
        public void ofClient() {}

        @RateLimited(value = "vote", key = "{'x', user}")
        public void ofUser() {}

        @RateLimited(value = "vote", key = "#order.customer().trim()")
        public void failing(@Nullable Order order) {}

        @RateLimited(value = "vote", key = "#any")
        public void any(Object any) {}

        @RateLimited(value = "vote", key = "global", permits = "#any")
        public void permits(Object any) {}

        @RateLimited(value = "vote", key = "global", condition = "#any")
        public void condition(@Nullable Object any) {}
    }

    @Test
    void whatOnlyACallCanShow() {
        try (App app = App.of(CONFIG, Calls.class)) {
            Calls calls = app.bean(Calls.class);
            String noAddress = "() | address | key = \"#user\" | key = \"global\" | CallerSource";
            told(calls::ofClient, "RL-128 | ofClient" + noAddress);
            told(calls::ofUser, "RL-128 | ofUser" + noAddress);
            told(
                    () -> calls.failing(null),
                    "RL-132 | failing(Order) | key = \"#order.customer().trim()\" | SpelEvaluationException |"
                            + " #user?.name");
            String any = "RL-132 | any(Object) | key = \"#any\" | ";
            told(() -> calls.any(new Object()), any + "java.lang.Object | #order.id");
            told(() -> calls.any(new int[] {1}), any + "[I | #order.id");
            told(() -> calls.any(List.of()), any + "empty list | 1 to 32 | key = \"global\"");
            String permits = "RL-132 | permits(Object) | permits = \"#any\" | 0 to 4503599627370496 | #items.size() | ";
            told(() -> calls.permits(-1), permits + " -1");
            told(() -> calls.permits(1L << 53), permits + " 9007199254740992");
            told(() -> calls.permits(1.5), permits + "java.lang.Double");
            told(() -> calls.permits("2"), permits + "java.lang.String");
            told(
                    () -> calls.condition(null),
                    "RL-132 | condition(Object) | condition = \"#any\" | null | true or false | #size > 10");
        }
    }

    /** Fails unless the call fails with this code, at this method, with these facts. */
    private static void told(Executable call, String facts) {
        String message =
                String.valueOf(assertThrows(IllegalStateException.class, call).getMessage());
        told(message, facts.replaceFirst(" \\| ", " | @RateLimited | " + Matcher.quoteReplacement(HERE) + "Calls."));
    }

    private static String text(Method method) {
        return method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    private static void told(String message, String facts) {
        String[] all = facts.split(Pattern.quote(" | "), -1);
        Facts.told(message, all[0], all);
    }
}
