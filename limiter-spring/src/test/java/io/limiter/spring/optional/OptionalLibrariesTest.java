package io.limiter.spring.optional;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** What is optional may be missing: each program runs on a class path of its own, which lacks it. */
class OptionalLibrariesTest {
    @Test
    void aContextNeedsNeitherReactorNorAspectjNorTheWeb() throws Exception {
        List<String> missing = List.of(
                "reactor-core",
                "reactive-streams",
                "aspectj",
                "tomcat-embed",
                "jakarta.servlet-api",
                "spring-web",
                "redisson");
        assertEquals(
                "hello bob, hello bob, denied",
                run(
                        missing,
                        InAContext.class,
                        "reactor.core.publisher.Mono",
                        "jakarta.servlet.Filter",
                        "org.springframework.web.context.request.RequestContextHolder"));
    }

    @Test
    void wovenCodeNeedsNoContext() throws Exception {
        List<String> missing = List.of(
                "reactor-core",
                "reactive-streams",
                "tomcat-embed",
                "jakarta.servlet-api",
                "spring-web",
                "spring-context",
                "spring-aop",
                "spring-beans",
                "redisson");
        assertEquals(
                "RateLimiting: hello bob, denied",
                run(missing, WithoutAContext.class, "org.springframework.beans.factory.BeanFactory"));
    }

    private static Object run(List<String> missing, Class<? extends Callable<?>> program, String... gone)
            throws Exception {
        List<URL> path = new ArrayList<>();
        String all = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : all.split(File.pathSeparator)) {
            if (missing.stream().noneMatch(new File(entry).getName()::startsWith)) {
                path.add(url(entry));
            }
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Arrays.stream(gone)
                    .forEach(name -> assertThrows(ClassNotFoundException.class, () -> loader.loadClass(name)));
            Thread.currentThread().setContextClassLoader(loader);
            Callable<?> made = (Callable<?>)
                    loader.loadClass(program.getName()).getDeclaredConstructor().newInstance();
            return made.call();
        } finally {
            Thread.currentThread().setContextClassLoader(OptionalLibrariesTest.class.getClassLoader());
        }
    }

    private static URL url(String entry) throws MalformedURLException {
        return new File(entry).toURI().toURL();
    }
}
