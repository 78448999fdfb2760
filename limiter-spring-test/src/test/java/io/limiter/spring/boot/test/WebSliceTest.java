package io.limiter.spring.boot.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.spring.boot.BootSite;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;

/** Limits in slices of an application: {@code @WebMvcTest}, with and without our annotation. */
class WebSliceTest {
    @Configuration(proxyBeanMethods = false)
    @EnableWebSecurity
    static class Open {
        @Bean
        SecurityFilterChain everybodyMayDoEverything(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
                    .build();
        }
    }

    private static MockHttpServletResponse call(MockMvc site, HttpMethod method, String path) throws Exception {
        return site.perform(MockMvcRequestBuilders.request(method, path))
                .andReturn()
                .getResponse();
    }

    private static List<Integer> statuses(int calls, MockMvc site, HttpMethod method, String path) throws Exception {
        List<Integer> statuses = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            statuses.add(call(site, method, path).getStatus());
        }
        return statuses;
    }

    @Nested
    @WebSlice
    @ContextConfiguration(classes = {BootSite.Pages.class, Open.class})
    @TestPropertySource(
            properties = {
                "limiter.redis.address=redis://127.0.0.1:1",
                "limiter.policies.vote.limits=3/10s",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.limits=2/1h"
            })
    @AutoConfigureTestLimiter
    class WithTheAnnotation {
        @Autowired
        private MockMvc site;

        @Autowired
        private ManualTime time;

        @RepeatedTest(2)
        void controllersAndPathsAreLimited() throws Exception {
            assertEquals(List.of(200, 200, 200, 429), statuses(4, site, HttpMethod.POST, "/votes"));
            MockHttpServletResponse denied = call(site, HttpMethod.POST, "/votes");
            assertEquals("10", denied.getHeader("Retry-After"));
            assertTrue(denied.getContentAsString().contains("quota-exceeded"), denied.getContentAsString());
            assertEquals(List.of(200, 200, 429), statuses(3, site, HttpMethod.GET, "/pages/one"));
            time.advance(Duration.ofSeconds(10));
            assertEquals(200, call(site, HttpMethod.POST, "/votes").getStatus());
            assertEquals(429, call(site, HttpMethod.GET, "/pages/one").getStatus());
        }
    }

    @Nested
    @WebSlice
    @ContextConfiguration(classes = {BootSite.Pages.class, Open.class})
    @TestPropertySource(
            properties = {
                "limiter.redis.address=redis://127.0.0.1:1",
                "limiter.redis.startup-wait=1m",
                "limiter.policies.vote.limits=3/10s",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.limits=2/1h"
            })
    class WithoutIt {
        @Autowired
        private MockMvc site;

        @Test
        void nothingIsLimitedAndRedisIsNotLookedFor() throws Exception {
            assertEquals(List.of(200, 200, 200, 200), statuses(4, site, HttpMethod.POST, "/votes"));
            assertEquals(List.of(200, 200, 200), statuses(3, site, HttpMethod.GET, "/pages/one"));
        }
    }
}
