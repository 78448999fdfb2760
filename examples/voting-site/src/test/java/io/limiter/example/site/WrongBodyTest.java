package io.limiter.example.site;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.site.Browser.Answer;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The answer to an invalid body describes what the endpoint accepts, and its example is valid. */
class WrongBodyTest extends StillSite {
    enum Endpoint {
        VOTE("POST", "/api/votes", "a JSON object such as ", "{\"candidate\":\"tea\"}"),
        TRAFFIC(
                "POST",
                "/api/lab/traffic",
                "a JSON object whose numbers are whole, such as ",
                "{\"steps\":[{\"atMillis\":0,\"calls\":60,\"overMillis\":2000}]}"),
        LIMITS(
                "PUT",
                "/api/lab/limits",
                "a JSON object whose numbers are whole, such as ",
                "{\"permits\":10,\"periodMillis\":5000,\"burst\":10}");

        private final String method;
        private final String path;
        private final String expected;
        private final String example;

        Endpoint(String method, String path, String expected, String example) {
            this.method = method;
            this.path = path;
            this.expected = expected;
            this.example = example;
        }
    }

    private static void assertWrong(int status, String message, Answer answer) {
        assertEquals(status, answer.status(), answer.body());
        assertEquals("application/problem+json", answer.header("Content-Type"));
        assertEquals(message, answer.json().at("/detail").asString());
    }

    @ParameterizedTest
    @EnumSource
    void whatIsMissingIsSaidToBeMissing(Endpoint endpoint) {
        String message = "the body is missing; send " + endpoint.expected + endpoint.example;

        assertWrong(400, message, browser.sendNothing(site.port(), endpoint.method, endpoint.path));
        assertWrong(400, message, browser.send(site.port(), endpoint.method, endpoint.path, ""));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNoJsonOrOfAnotherShapeCantBeRead(Endpoint endpoint) {
        for (String body : List.of("tea", "{\"candidate\":", "[]", "\"tea\"", "7", "null")) {
            assertWrong(
                    400,
                    "the body can't be read; send " + endpoint.expected + endpoint.example,
                    browser.send(site.port(), endpoint.method, endpoint.path, body));
        }
    }

    @ParameterizedTest
    @EnumSource
    void theExampleIsTakenAsItStands(Endpoint endpoint) {
        Answer answer = browser.send(site.port(), endpoint.method, endpoint.path, endpoint.example);

        assertTrue(answer.status() == 200 || answer.status() == 202, answer.status() + " " + answer.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/votes", "/api/lab/traffic"})
    void aFormIsToldToBeJson(String path) {
        Answer form = browser.postForm(site.port(), path, "candidate=tea");

        assertEquals(415, form.status());
        assertTrue(
                form.json()
                        .at("/detail")
                        .asString()
                        .startsWith("Content-Type is 'application/x-www-form-urlencoded'; send Content-Type:"
                                + " application/json, and a JSON object"),
                form.body());
        assertTrue(form.header("Accept").contains("application/json"), form.header("Accept"));
    }

    @Test
    void everyEndpointThatTakesABodySaysWhatItTakes() {
        List<String> taking = new ArrayList<>();
        site.bean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
                .getHandlerMethods()
                .forEach((mapping, method) -> {
                    if (takesBody(method)) {
                        taking.add(mapping.getMethodsCondition().getMethods() + " " + mapping.getDirectPaths());
                        assertTrue(method.hasMethodAnnotation(ExpectedBody.class), method.toString());
                    }
                });
        assertEquals(Endpoint.values().length, taking.size(), "this test names another number of them: " + taking);
    }

    private static boolean takesBody(HandlerMethod method) {
        for (Parameter parameter : method.getMethod().getParameters()) {
            if (parameter.isAnnotationPresent(RequestBody.class)) {
                return true;
            }
        }
        return false;
    }
}
