package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.application.Limiter;
import io.limiter.example.site.Browser.Answer;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the operators' page does for all instances: only with the login, and the token of this site. */
@Tag("long")
class OperatorsControlTest {
    private static final String CONTROL = "/actuator/ratelimitcontrol";
    private static final String LOGIN =
            "Basic " + Base64.getEncoder().encodeToString("operator:correct horse".getBytes(StandardCharsets.UTF_8));
    private static final String TEXT =
            "{\"command\":\"publish --based 0\",\"text\":\"limiter.policies.vote.limits = 5/10s\"}";

    private static Site start(String group) {
        return Site.start(
                "spring.security.user.password=correct horse",
                "limiter.redis.address=" + RedisServers.single(),
                "limiter.redis.startup-wait=30s",
                "limiter.control.group=" + group,
                "limiter.control.secret=0123456789abcdef");
    }

    private static Answer post(Site site, String body, String... headers) {
        String[] all = new String[headers.length + 4];
        System.arraycopy(new String[] {"Authorization", LOGIN, "Content-Type", "application/json"}, 0, all, 0, 4);
        System.arraycopy(headers, 0, all, 4, headers.length);
        return new Browser().sendBodyWith(site.port(), "POST", CONTROL, body, all);
    }

    @Test
    void aChangeOnOneIsInForceOnBoth() {
        String group = UUID.randomUUID().toString();
        try (Site one = start(group);
                Site other = start(group)) {
            assertEquals(403, post(one, TEXT).status());
            assertEquals(
                    200,
                    post(one, TEXT, "Cookie", "XSRF-TOKEN=a", "X-XSRF-TOKEN", "a")
                            .status());
            Await.until(
                    "in force on the other",
                    () -> other.bean(Limiter.class)
                            .policy("vote")
                            .limits()
                            .toString()
                            .contains("5/10s"));
            Answer state = new Browser().sendWith(other.port(), "GET", CONTROL, "Authorization", LOGIN);
            assertEquals(2, state.json().at("/instances").size(), state.body());
            assertEquals("operator", state.json().at("/versions/0/author").asString());
            assertEquals(
                    401,
                    new Browser()
                            .sendWith(one.port(), "GET", CONTROL, "Accept", "*/*")
                            .status());
        }
    }
}
