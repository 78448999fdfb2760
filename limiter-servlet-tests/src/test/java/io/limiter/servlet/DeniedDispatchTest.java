package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.limiter.servlet.WebServer.Answer;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A denied request that is dispatched again is a new try; its answer is not. */
class DeniedDispatchTest extends Served {
    private static final String ALL = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 0/1h\n";
    private static final String PAGE = "limiter.rules.page.path = /page\nlimiter.rules.page.limits = 0/1h\n";

    private final AtomicInteger served = new AtomicInteger();

    /** A client may have its 429 before the request has returned. */
    private final CountDownLatch cameBack = new CountDownLatch(1);

    private Container server(Container.Kind kind) {
        server = kind.make(directory).servlet("/page", (request, response) -> {
            served.incrementAndGet();
            response.getWriter().write("served");
        });
        return server.filter("outermost", (request, response, chain) -> {
            try {
                chain.doFilter(request, response);
            } finally {
                if (request.getDispatcherType() == DispatcherType.ASYNC) {
                    cameBack.countDown();
                }
            }
        });
    }

    private void assertNothingIsServedWhenItComesBack() throws InterruptedException {
        assertTrue(cameBack.await(60, TimeUnit.SECONDS), "no asynchronous dispatch");
        assertEquals(0, served.get());
    }

    private static boolean isFirst(HttpServletRequest request, String what) {
        boolean first = request.getAttribute(what) == null;
        request.setAttribute(what, true);
        return first;
    }

    @ParameterizedTest
    @CsvSource({"TOMCAT, ''", "TOMCAT, /page", "TOMCAT, /x/../page", "JETTY, ''"})
    void anOuterFilterTriesAgainAsynchronously(Container.Kind kind, String to) throws Exception {
        Filter retrying = (request, response, chain) -> {
            chain.doFilter(request, response);
            if (isFirst((HttpServletRequest) request, "retried")) {
                dispatch((HttpServletRequest) request, to);
            }
        };
        server(kind)
                .filter("retrying", retrying)
                .filter("limiter", WebServer.limiter(limiter, PAGE.replace("/page", "/page, /x/*")))
                .start();
        server.get("/page");
        assertNothingIsServedWhenItComesBack();
    }

    /** Tomcat's chain cannot run again: a second call skips the limiter, so the documentation forbids it. Jetty's can. */
    @ParameterizedTest
    @EnumSource
    void onTomcatASecondCallOfTheChainGoesStraightToTheServlet(Container.Kind kind) {
        server(kind)
                .filter("retrying", (request, response, chain) -> {
                    chain.doFilter(request, response);
                    try {
                        chain.doFilter(request, response);
                    } finally {
                        cameBack.countDown();
                    }
                })
                .filter("limiter", WebServer.limiter(limiter, PAGE))
                .start();
        assertEquals(429, server.status("/page"));
        // The answer is whole, and on its way, before the second call.
        Await.until("the second call has returned", () -> cameBack.getCount() == 0);
        assertEquals(kind == Container.Kind.TOMCAT ? 1 : 0, served.get());
    }

    private static void dispatch(HttpServletRequest request, String to) {
        if (to.isEmpty()) {
            request.startAsync().dispatch();
        } else {
            request.startAsync().dispatch(to);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/page", "/PAGE/../page", "/retry"})
    void aHandlerThatHoldsTheClientTriesAgain(String to) throws Exception {
        RejectionHandler holding = (rejection, request, response) -> {
            if (isFirst(request, "held")) {
                dispatch(request, to);
            }
        };
        server(Container.Kind.TOMCAT)
                .filter("limiter", WebServer.limiter(limiter, ALL, holding))
                .servlet("/retry", Answer.forward("/page"))
                .start();
        assertEquals(429, server.get("/page").statusCode());
        assertNothingIsServedWhenItComesBack();
    }

    @ParameterizedTest
    @ValueSource(strings = {"forward", "async"})
    void aServletTriesADeniedForwardAgain(String how) throws Exception {
        server(Container.Kind.TOMCAT)
                .filter("limiter", WebServer.limiter(limiter, PAGE))
                .servlet("/front", (request, response) -> {
                    request.getRequestDispatcher("/page").forward(request, response);
                    if (how.equals("forward")) {
                        request.getRequestDispatcher("/page").forward(request, response);
                    } else {
                        request.startAsync().dispatch("/page");
                    }
                })
                .start();
        server.get("/front");
        if (how.equals("async")) {
            assertNothingIsServedWhenItComesBack();
        }
        assertEquals(0, served.get());
    }

    @Test
    void whatWasAllowedBeforeIsNotChargedAgain() {
        server(Container.Kind.TOMCAT)
                .filter("limiter", WebServer.limiter(limiter, PAGE + ALL.replace("0/1h", "2/1h")))
                .servlet("/other", Answer.text("instead"))
                .servlet("/front", (request, response) -> {
                    request.getRequestDispatcher("/page").include(request, response);
                    request.startAsync().dispatch("/other");
                })
                .start();
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/front"));
    }

    /** Each page lies under the rule that denies. */
    @ParameterizedTest
    @ValueSource(strings = {"forward", "async", "error"})
    void aHandlerMayAnswerByAPageThatForwards(String how) {
        RejectionHandler handler = (rejection, request, response) -> {
            switch (how) {
                case "forward" -> request.getRequestDispatcher("/busy").forward(request, response);
                case "async" -> request.startAsync().dispatch("/busy");
                default -> response.sendError(429);
            }
        };
        server(Container.Kind.TOMCAT)
                .filter("limiter", WebServer.limiter(limiter, ALL, handler))
                .servlet("/busy", Answer.forward("/view"))
                .servlet("/view", Answer.text("busy"))
                .errorPage(429, "/busy")
                .start();
        HttpResponse<String> denied = server.get("/page");
        assertEquals(429, denied.statusCode());
        assertEquals("busy", denied.body());
        assertEquals(0, served.get());
    }

    /** Tomcat calls such a forward an ERROR dispatch, other containers a FORWARD. */
    @Test
    void anErrorPageForwardsToItsViewAndNotToWhatWasDenied() throws Exception {
        RateLimitFilter filter = WebServer.limiter(limiter, ALL);
        FakeExchange exchange = FakeExchange.at("/page");
        exchange.through(filter);
        exchange.dispatch = DispatcherType.FORWARD;
        exchange.attributes.put(RequestDispatcher.ERROR_REQUEST_URI, "/page");
        exchange.through(filter);
        assertFalse(exchange.passed);
        exchange.path = "/view";
        exchange.requestUri = "/view";
        exchange.through(filter);
        assertTrue(exchange.passed);
    }

    /** A request that was not decided because something failed has met no rule. */
    @ParameterizedTest
    @ValueSource(strings = {"REQUEST", "FORWARD", "ASYNC"})
    void aFailureIsNoWayToPass(String dispatch) throws Exception {
        RateLimitFilter filter = WebServer.limiter(limiter, ALL);
        FakeExchange exchange = new FakeExchange();
        AtomicInteger calls = new AtomicInteger();
        HttpServletRequest failing = new HttpServletRequestWrapper(exchange.request()) {
            @Override
            public String getRemoteAddr() {
                if (calls.getAndIncrement() == 0) {
                    throw new IllegalStateException("no address now");
                }
                return super.getRemoteAddr();
            }
        };
        assertThrows(IllegalStateException.class, () -> filter.doFilter(failing, exchange.response(), (in, out) -> {}));
        exchange.dispatch = DispatcherType.valueOf(dispatch);
        filter.doFilter(failing, exchange.response(), (in, out) -> served.incrementAndGet());
        assertEquals(0, served.get());
        assertEquals(429, exchange.status);
    }
}
