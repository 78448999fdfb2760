package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.ManualTime;
import java.net.URLDecoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A POST that an application takes for another method. Every rule here denies all. */
class MethodOverrideTest extends Served {
    private static final String RULE = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h\n";

    private static int status(String methods, String mode, String method, String header, String query, String type)
            throws Exception {
        RateLimitFilter filter = WebServer.limiter(
                new ManualTime(),
                RULE + "limiter.rules.r.methods = " + methods.replace('+', ',') + "\nlimiter.http.method-override = "
                        + mode);
        FakeExchange exchange = new FakeExchange();
        exchange.method = method;
        exchange.query = query;
        exchange.contentType = type;
        if (header != null) {
            String[] field = header.split("=", 2);
            for (String value : field[1].split("/", -1)) {
                exchange.header(field[0], value);
            }
        }
        return exchange.through(filter);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    DELETE,     POST,   X-HTTP-Method-Override=DELETE,   ,                        429
                    DELETE,     post,   x-http-method-override=delete,   ,                        429
                    DELETE,     POST,   'X-HTTP-Method= DELETE ',        ,                        429
                    DELETE,     POST,   X-Method-Override=DELETE,        ,                        429
                    DELETE,     POST,   X-Method-Override=PUT/DELETE,    ,                        429
                    DELETE,     POST,   X-Method-Override=PUT,           ,                        200
                    DELETE+PUT, POST,   X-Method-Override=PUT,           ,                        429
                    GET,        POST,   X-Method-Override=HEAD,          ,                        429
                    HEAD,       POST,   X-Method-Override=GET,           ,                        200
                    POST,       POST,   X-Method-Override=DELETE,        ,                        429
                    DELETE,     POST,   ,                                _method=DELETE,          429
                    DELETE,     POST,   ,                                a=b&_method=delete&c,    429
                    DELETE,     POST,   ,                                %5Fme%74hod=%44ELETE,    429
                    DELETE,     POST,   ,                                _method=+DELETE+,        429
                    PUT+DELETE, POST,   ,                                _method=%2BDELETE,       200
                    DELETE,     POST,   ,                                _method=PUT&_method=DELETE, 429
                    DELETE,     POST,   ,                                _method=PUT,             200
                    DELETE,     POST,   ,                                _methods=DELETE,         200
                    DELETE,     POST,   ,                                _method,                 200
                    DELETE,     POST,   ,                                &&=&%=%&_method=%,       200
                    DELETE,     POST,   ,                                ,                        200
                    POST,       GET,    X-HTTP-Method-Override=POST,     _method=POST,            200
                    DELETE,     PUT,    X-HTTP-Method-Override=DELETE,   _method=DELETE,          200
                    """)
    void isForBothMethods(String methods, String method, String header, String query, int expected) throws Exception {
        assertEquals(expected, status(methods, "declared", method, header, query, null));
        boolean byItself = methods.equalsIgnoreCase(method);
        assertEquals(byItself ? 429 : 200, status(methods, "none", method, header, query, null));
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
                    application/x-www-form-urlencoded,                 429
                    Application/X-WWW-Form-URLencoded; charset=UTF-8,  429
                    application/x-www-form-urlencodedX,                429
                    multipart/form-data; boundary=x,                   429
                    Multipart/Mixed; boundary=x,                       429
                    */*,                                               429
                    application/*,                                     429
                    application/json,                                  200
                    application/vnd.acme.platform+json,                200
                    ,                                                  200
                    """)
    void aFormMayHoldAnyMethod(String type, int expected) throws Exception {
        assertEquals(expected, status("DELETE", "forms", "POST", null, null, type));
        assertEquals(200, status("DELETE", "forms", "PUT", null, null, type));
        assertEquals(200, status("DELETE", "declared", "POST", null, null, type));
        assertEquals(429, status("DELETE", "forms", "POST", null, "_method=DELETE", type));
    }

    @Test
    void aClaimMayBeEncodedFromEndToEnd() throws Exception {
        StringBuilder query = new StringBuilder();
        "_method=VERSION-CONTROL-AND-MORE"
                .chars()
                .forEach(c -> query.append(c == '=' ? "=" : "%" + Integer.toHexString(c)));
        assertEquals(429, status("ext:VERSION-CONTROL-AND-MORE", "declared", "POST", null, query.toString(), null));
    }

    /** Applications trim in different ways, and proxies join lines. Ambiguous methods count. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "_method=DELETE%00",
                "_method=%20%01DELETE%0A",
                "_method=%C2%A0DELETE%E3%80%80",
                "_method=PUT,DELETE",
                "_method=DELETE%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20"
                        + "%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20"
                        + "%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20%20"
            })
    void aClaimThatAnApplicationMayTrimCounts(String query) throws Exception {
        assertEquals(429, status("DELETE", "declared", "POST", null, query, null));
        String text = URLDecoder.decode(query.substring("_method=".length()), StandardCharsets.UTF_8);
        assertEquals(429, status("DELETE", "declared", "POST", "X-Method-Override=" + text, null, null));
    }

    @Test
    void whatIsTooLongForAMethodAndOfAnotherNameClaimsNothing() throws Exception {
        assertEquals(200, status("DELETE", "declared", "POST", null, "q=" + "x".repeat(70_000), null));
        assertEquals(200, status("DELETE", "declared", "POST", null, "x".repeat(70_000) + "=DELETE", null));
    }

    /** Far more than a container lets in: milliseconds, while their square is minutes. */
    @ParameterizedTest
    @ValueSource(strings = {"&", "a&", "a=&", "%&"})
    void aLongQueryIsReadInTimeThatGrowsAsItDoes(String unit) throws Exception {
        String query = unit.repeat(3_000_000);
        assertEquals(200, status("DELETE", "declared", "POST", null, query, null));
        assertEquals(429, status("DELETE", "declared", "POST", null, query + "_method=DELETE", null));
    }

    @Test
    void whoClaimsVeryManyMethodsClaimsAll() throws Exception {
        StringBuilder query = new StringBuilder();
        for (int i = 0; i < 17; i++) {
            query.append("&_method=M").append(i);
        }
        assertEquals(429, status("DELETE", "declared", "POST", null, query.toString(), null));
        assertEquals(200, status("DELETE", "declared", "POST", null, query.substring(0, query.length() - 12), null));
    }

    @Test
    void theBodyIsTheApplications() {
        String rules = RULE.replace("0/1h", "9/1h") + "limiter.rules.r.methods = DELETE\n"
                + "limiter.http.method-override = forms";
        WebServer.Answer echo = (request, response) ->
                response.getWriter().write(new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        server = Container.Kind.TOMCAT.serve(directory, WebServer.limiter(time, rules), echo);
        HttpResponse<String> answer =
                server.send("POST", "/page", "_method=DELETE&x=1", "Content-Type", "application/x-www-form-urlencoded");
        assertEquals("_method=DELETE&x=1", answer.body());
        assertEquals("\"r\";r=8;t=3600", Container.field(answer, "RateLimit"));
    }
}
