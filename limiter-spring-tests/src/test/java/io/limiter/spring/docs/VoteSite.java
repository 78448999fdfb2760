package io.limiter.spring.docs;

import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

@Configuration
@EnableWebMvc
@EnableRateLimiting
@Import(VoteSite.Votes.class)
public class VoteSite {
    @RestController
    static class Votes {
        @PostMapping("/votes")
        @RateLimited("vote")
        public String vote() {
            return "thank you";
        }
    }

    public static void main(String[] args) throws Exception {
        AnnotationConfigWebApplicationContext spring = new AnnotationConfigWebApplicationContext();
        spring.register(VoteSite.class);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setPort(Integer.getInteger("port", 8080));
        tomcat.getConnector();
        Context web = tomcat.addContext("", null);
        Wrapper servlet = Tomcat.addServlet(web, "votes", new DispatcherServlet(spring));
        servlet.setAsyncSupported(true);
        servlet.setLoadOnStartup(1);
        web.addServletMappingDecoded("/", "votes");
        tomcat.start();
        tomcat.getServer().await();
    }
}
