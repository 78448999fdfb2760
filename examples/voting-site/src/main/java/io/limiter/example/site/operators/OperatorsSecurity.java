package io.limiter.example.site.operators;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.CsrfConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.servlet.config.annotation.ViewControllerRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * The page and all of the actuator need a login; everything else of the site stays open. Browsers send this login
 * automatically, even with requests caused by another site. So requests that change something also need a token, which
 * only a page of this site can read: cookie {@code XSRF-TOKEN}, sent back in the header {@code X-XSRF-TOKEN}.
 */
@Configuration(proxyBeanMethods = false)
class OperatorsSecurity implements WebMvcConfigurer {
    @Bean
    SecurityFilterChain operators(HttpSecurity http) throws Exception {
        return http.securityMatcher("/operators/**", "/actuator/**")
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .httpBasic(Customizer.withDefaults())
                .csrf(CsrfConfigurer::spa)
                .sessionManagement(session -> session.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .build();
    }

    @Override
    public void addViewControllers(ViewControllerRegistry pages) {
        pages.addRedirectViewController("/operators", "/operators/index.html");
    }
}
