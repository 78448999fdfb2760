package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.browser.OpenPage;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** An operator sees who is denied, looks at a key, gives it its quota again, and asks why; on a phone and on a desk. */
class OperatorsInBrowserTest {
    /** The name of a client, chosen to become part of the page that shows it. */
    private static final String ATTACK = "<img src=x onerror=\"window.attacked=1\">";

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path profile;

    private OpenPage page;
    private String home;

    @ParameterizedTest
    @CsvSource({"phone, 390, 844", "desk, 1440, 900"})
    void aLookAtTheLimits(String name, int width, int height) throws Exception {
        try (ConfigurableApplicationContext site = SpringApplication.run(
                VotingSite.class,
                "--server.port=0",
                "--spring.security.user.password=secret",
                "--limiter.policies.vote.limits=3/10m",
                "--limiter.rules.profiles.path=/api/profiles/{name}",
                "--limiter.rules.profiles.key=path:name",
                "--limiter.rules.profiles.limits=1/1h")) {
            home = "http://localhost:" + site.getEnvironment().getProperty("local.server.port") + "/";
            try (OpenPage opened = new OpenPage(profile, home, width, height)) {
                page = opened;
                traffic(4);
                logsIn();
                seesWhoIsDenied();
                seesCountersOverTime();
                page.everythingFits(width, height);
                looksAtAKeyAndResetsIt();
                cannotResetWithoutTheToken();
                asksWhy();
                page.everythingFits(width, height);
                page.screenshot("operators-" + name + "-light");
                page.media("prefers-color-scheme", "dark");
                page.screenshot("operators-" + name + "-dark");
                assertEquals("undefined", page.script("return typeof window.attacked"));
                assertEquals(0, page.findAll("img").size(), "nothing of a client became part of the page");
                // The answers without the login, to a text that is no key, without the token, and of what has no group.
                assertEquals(
                        List.of(),
                        page.complaints(
                                "responded with a status of 401",
                                "actuator/ratelimitcontrol - Failed",
                                "profiles?key=%3Cimg+src%3Dx+onerror%3D%22window.attacked%3D1%22%3E - Failed",
                                "profiles?key=a - Failed"));
                assertEquals(List.of(login()), page.foreignAddresses(), "the login is in front of the address");
            }
        }
    }

    private void traffic(int calls) throws Exception {
        String attack = URLEncoder.encode(ATTACK, StandardCharsets.UTF_8).replace("+", "%20");
        for (int i = 0; i < calls; i++) {
            send(HttpRequest.newBuilder(URI.create(home + "api/votes"))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"candidate\":\"tea\"}")));
            send(HttpRequest.newBuilder(URI.create(home + "api/profiles/" + attack)));
            send(HttpRequest.newBuilder(URI.create(home + "api/lab")));
        }
    }

    private static void send(HttpRequest.Builder request) throws IOException, InterruptedException {
        CLIENT.send(request.build(), BodyHandlers.discarding());
    }

    private void logsIn() {
        page.driver().get(home + "operators");
        assertEquals(0, page.findAll("#policies").size(), "nothing without the login");
        page.driver().get(login());
        // A page whose address has a login may not call its server.
        page.driver().get(home + "operators");
        page.await("the policies", () -> page.findAll(".policy").size() >= 6);
        assertEquals("The state is in this instance.", page.text("#backend"));
    }

    private String login() {
        return home.replace("//", "//operator:secret@") + "operators";
    }

    private void seesWhoIsDenied() {
        page.await("the attack", () -> page.text("#denied tbody").contains(ATTACK));
        assertTrue(page.text("#denied tbody").contains("vote"), page.text("#denied tbody"));
        assertTrue(page.text("#rules tbody").contains("/api/profiles/{name}"), page.text("#rules tbody"));
    }

    private void seesCountersOverTime() throws Exception {
        for (int bars = 1; bars < 7; bars++) {
            traffic(1 + bars % 3);
            int more = bars;
            page.await(
                    "a bar",
                    () -> page.findAll("[data-policy=vote] rect.refused").size() >= more);
        }
        page.await("totals", () -> page.text("[data-policy=vote] .totals").startsWith("3 allowed"));
    }

    private void looksAtAKeyAndResetsIt() {
        page.press("#denied tr[data-key^='vote '] button");
        page.await("the look", () -> page.text("#key-answer").contains("127.0.0.1 is denied by vote"));
        page.press("#key-reset");
        page.press("#key-no");
        page.press("#key [type=submit]");
        page.await("still denied", () -> page.text("#key-answer").contains("127.0.0.1 is denied by vote"));
        page.press("#key-reset");
        page.press("#key-yes");
        page.await("the reset", () -> page.text("#key-answer").contains("has its whole quota of vote again"));
        page.press("#key [type=submit]");
        page.await("allowed", () -> page.text("#key-answer").contains("127.0.0.1 is allowed by vote"));

        page.find("#key-policy option[value=profiles]").click();
        type("#key-text", ATTACK);
        page.press("#key [type=submit]");
        page.await("an error", () -> page.text("#key-answer").contains("This can’t be done."));
    }

    /** The browser sends the login by itself, and that is not enough. */
    private void cannotResetWithoutTheToken() {
        String status = String.valueOf(page.driver()
                .executeAsyncScript("const done = arguments[0]; fetch('../actuator/ratelimits/profiles?key=a',"
                        + " { method: 'DELETE' }).then((answer) => done(answer.status));"));
        assertEquals("403", status);
    }

    private void asksWhy() {
        type(
                "#explain-path",
                "/api/profiles/"
                        + URLEncoder.encode(ATTACK, StandardCharsets.UTF_8).replace("+", "%20"));
        page.press("#explain [type=submit]");
        page.await("the reason", () -> page.text("#explain-answer").contains("This request gets 429"));
        assertTrue(page.text("#explain-answer").contains(ATTACK), page.text("#explain-answer"));
        type("#explain-path", "/api/lab");
        page.press("#explain [type=submit]");
        page.await("it passes", () -> page.text("#explain-answer").contains("This request reaches the application"));
    }

    private void type(String selector, String value) {
        page.find(selector).clear();
        page.find(selector).sendKeys(value);
    }
}
