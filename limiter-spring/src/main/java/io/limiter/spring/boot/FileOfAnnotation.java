package io.limiter.spring.boot;

import io.limiter.spring.config.EnableRateLimiting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;

/** The file that {@link EnableRateLimiting} names and that nobody reads where Spring Boot configures. */
final class FileOfAnnotation {
    private static final Logger LOG = LoggerFactory.getLogger(FileOfAnnotation.class);

    private FileOfAnnotation() {}

    /** An annotation that was left over is no mistake; limits that are not applied are one. */
    static void warnOfIt(ApplicationContext application) {
        for (String name : application.getBeanNamesForAnnotation(EnableRateLimiting.class)) {
            EnableRateLimiting annotation = application.findAnnotationOnBean(name, EnableRateLimiting.class);
            String file =
                    annotation == null ? "" : application.getEnvironment().resolvePlaceholders(annotation.value());
            if (!file.isEmpty() && application.getResource(file).exists()) {
                LOG.warn(
                        "RL-117 {} is not read, because Spring Boot configures the limiter; write"
                                + " spring.config.import = {}, or move its lines to application.yml, and remove"
                                + " @EnableRateLimiting",
                        file,
                        file);
            }
        }
    }
}
