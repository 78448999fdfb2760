package io.limiter.spring.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Pages;
import io.limiter.kit.RedisServers;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import io.limiter.spring.config.EnableRateLimiting;
import java.io.IOException;
import java.io.StringReader;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the pages about Spring show is in this package, letter by letter, and runs. */
class PagesTest {
    private static final String PAGES = Pages.text("spring");
    private static final String START = Pages.text("getting-started/spring");
    private static final Path HERE = Path.of("src/test/java/io/limiter/spring/docs");

    @Test
    void everyJavaSnippetStandsInThisPackage() throws IOException {
        String here = flat(Files.readString(HERE.resolve("PagesTest.java"))
                + Files.readString(HERE.resolve("VoteSite.java"))
                + Files.readString(HERE.resolve("boot/VoteApplication.java"))
                + Files.readString(
                        Path.of("../limiter-spring-test").resolve(HERE).resolve("BootVotesTest.java")));
        List<String> snippets = Pages.blocks(PAGES, "java");
        snippets.addAll(Pages.blocks(START, "java"));
        snippets.addAll(Pages.blocks(Pages.text("getting-started/spring-boot"), "java"));
        assertEquals(6, snippets.size());
        for (String snippet : snippets) {
            String code = flat(Pages.code(snippet));
            // Without the last brace: here more may come before it.
            assertTrue(here.contains(code.substring(0, code.length() - 1)), "not run by PagesTest:\n" + snippet);
        }
    }

    @Test
    void everyAttributeHasItsRowWithItsDefault() throws Exception {
        for (var attribute : RateLimited.class.getDeclaredMethods()) {
            Object value = attribute.getDefaultValue();
            String shown = value instanceof Class[] || value.equals("") ? "" : "`" + value + "`";
            String row = "| `" + attribute.getName() + "` | " + shown;
            assertTrue(PAGES.contains(row), "docs/spring lacks the row " + row);
        }
    }

    @Test
    void whatIsNotWovenIsReported() {
        String message = assertThrows(IllegalStateException.class, PagesTest::requireWoven)
                .getMessage();
        assertTrue(message.startsWith("RL-142 ") && message.contains("Votes.vote(String)"), message);
    }

    private static void requireWoven() {
        RateLimiting.requireWoven(Votes.class, Codes.class);
    }

    @Test
    void theFiveMinutes() throws Exception {
        Path properties = Path.of("target/test-classes/limiter.properties");
        // A busy machine may need the ten seconds of the page for four calls.
        Files.writeString(properties, Pages.blocks(START, "properties").get(0).replace("3/10s", "3/1000s"));
        int port = RedisServers.freePort();
        System.setProperty("port", Integer.toString(port));
        Thread main = new Thread(() -> {
            try {
                VoteSite.main(new String[0]);
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
        });
        main.setDaemon(true);
        main.start();
        try {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest vote = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/votes"))
                    .POST(BodyPublishers.noBody())
                    .build();
            List<Integer> statuses = new ArrayList<>();
            Await.until(Duration.ofSeconds(60), "the site answers", () -> {
                try {
                    statuses.add(client.send(vote, BodyHandlers.ofString()).statusCode());
                    return true;
                } catch (IOException notYet) {
                    return false;
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            for (int i = 0; i < 3; i++) {
                statuses.add(client.send(vote, BodyHandlers.ofString()).statusCode());
            }
            assertEquals(List.of(200, 200, 200, 429), statuses);
        } finally {
            System.clearProperty("port");
            Files.delete(properties);
        }
    }

    static class Gateway {
        static int sent;

        void send(String phone) {
            if (phone.isEmpty()) {
                throw new IllegalStateException("no phone");
            }
            sent++;
        }
    }

    private static final Gateway gateway = new Gateway();

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(limits = "1/1m, 5/1d fixed", refundOn = IllegalStateException.class)
    @interface SendsMessage {
        @AliasFor(annotation = RateLimited.class, attribute = "key")
        String to();
    }

    static class Codes {
        @SendsMessage(to = "#phone")
        public void sendCode(String phone) {
            gateway.send(phone);
        }
    }

    @Test
    void anAnnotationOfYourOwn() {
        try (App app = App.of("", Codes.class)) {
            Codes codes = app.bean(Codes.class);
            codes.sendCode("1");
            assertThrows(RateLimitExceededException.class, () -> codes.sendCode("1"));
            codes.sendCode("2");
            assertThrows(IllegalStateException.class, () -> codes.sendCode(""));
            assertThrows(IllegalStateException.class, () -> codes.sendCode(""));
            assertEquals(2, Gateway.sent);
        }
    }

    record Usage(long totalTokens) {}

    record Answer(Usage usage) {}

    record Question(int maxTokens) {}

    interface Model {
        Answer ask(Question question);
    }

    static class ModelOfTheTest implements Model {
        @Override
        public Answer ask(Question question) {
            return new Answer(new Usage(question.maxTokens() + 300L));
        }
    }

    static class Chat {
        private final Model model;

        Chat(Model model) {
            this.model = model;
        }

        @RateLimited(
                value = "tokens",
                key = "#customer",
                permits = "#question.maxTokens",
                settle = "#result.usage.totalTokens")
        public Answer ask(String customer, Question question) {
            return model.ask(question);
        }
    }

    @Test
    void anEstimateThatIsSettled() {
        String tokens = "limiter.policies.tokens.limits = 1000/1h fixed\nlimiter.policies.tokens.holds = 100\n";
        try (App app = App.ofClasses(tokens, Chat.class, ModelOfTheTest.class)) {
            Chat chat = app.bean(Chat.class);
            assertEquals(900, chat.ask("a", new Question(600)).usage().totalTokens());
            assertThrows(RateLimitExceededException.class, () -> chat.ask("a", new Question(200)));
            chat.ask("b", new Question(200));
        }
    }

    @Test
    void whereWovenMethodsFindTheirLimiter() throws Exception {
        // The snippet reads a file of the working folder, as a reader's program would.
        Path file = Path.of("limiter.properties");
        Files.writeString(file, "limiter.policies.vote.limits = 3/10s\n");
        try {
            Limiter limiter = Limiter.start(LimiterConfig.load(Path.of("limiter.properties")));
            RateLimiting.use(limiter);
            assertEquals(1, limiter.config().policies().size());
            limiter.close();
        } finally {
            Files.delete(file);
        }
    }

    @Configuration
    @EnableRateLimiting
    static class Settings {
        @Bean
        ManualTime time() {
            return new ManualTime();
        }

        @Bean
        Limiter limiter(ManualTime time) throws IOException {
            LimiterConfig config = LimiterConfig.builder()
                    .text("test", new StringReader("limiter.policies.vote.limits = 3/10s"))
                    .build();
            return Limiter.of(
                    config,
                    RateLimiters.on(InProcessBackend.builder().timeSource(time).build()));
        }
    }

    static class Voting {
        @RateLimited(value = "vote", key = "global")
        public String vote() {
            return "thank you";
        }
    }

    @Test
    void aTestWithATimeOfItsOwn() {
        try (AnnotationConfigApplicationContext context =
                new AnnotationConfigApplicationContext(Settings.class, Voting.class)) {
            Voting voting = context.getBean(Voting.class);
            assertEquals(3, App.passes(5, voting::vote));
            context.getBean(ManualTime.class).advance(Duration.ofSeconds(10));
            assertEquals(3, App.passes(5, voting::vote));
        }
    }

    @Configuration
    @EnableRateLimiting
    static class RateLimits {}

    @RestController
    static class Votes {
        @PostMapping("/api/votes")
        @RateLimited("vote")
        public String vote(@RequestParam("for") String choice) {
            return "thank you";
        }
    }

    @Service
    static class Messages {
        @RateLimited(limits = "1/1m, 5/1d fixed", key = "#phone", fallback = "sentAlready")
        public boolean send(String phone) {
            return true;
        }

        private boolean sentAlready(String phone) {
            return false;
        }
    }

    @Test
    void votesAndMessages() {
        try (App app = App.of("limiter.policies.vote.limits = 3/10s\n", Votes.class, Messages.class)) {
            assertEquals(
                    3,
                    App.passes(5, "192.0.2.1", null, () -> app.bean(Votes.class).vote("tea")));
            assertTrue(app.bean(Messages.class).send("1"));
            assertFalse(app.bean(Messages.class).send("1"));
        }
    }

    /** Without white space: the formatter indents and breaks lines as it likes. */
    private static String flat(String code) {
        return code.replaceAll("\\s+", "");
    }
}
