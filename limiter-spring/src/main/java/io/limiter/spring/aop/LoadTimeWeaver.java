package io.limiter.spring.aop;

import io.limiter.DiagnosticLog;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.util.ClassUtils;

/** Whether the application asks for weaving when its classes are loaded, and whether there is a weaver. */
public final class LoadTimeWeaver {
    /** Where AspectJ looks. */
    private static final List<String> FILES =
            List.of("META-INF/aop.xml", "META-INF/aop-ajc.xml", "org/aspectj/aop.xml");

    private static final Logger LOG = DiagnosticLog.of(LoadTimeWeaver.class);

    private LoadTimeWeaver() {}

    /** Of a program without a Spring context, which relies on weaving. */
    static void reportMissingAgent() {
        if (!hasAgent()) {
            report("the JVM has no agent that weaves, so no method is limited; start it with"
                    + " -javaagent:aspectjweaver-<version>.jar, or remove the file if classes are woven when compiled");
        }
    }

    /** Of a Spring context with limited beans, none of which is woven. */
    public static void reportUnwovenBeans() {
        report(
                "no bean with @RateLimited is woven, so calls within an object, and of objects that are no beans, are not"
                        + " limited; start the JVM with -javaagent:aspectjweaver-<version>.jar and include the beans in the file");
    }

    private static void report(String what) {
        URL file = fileThatIncludes();
        if (file != null) {
            LOG.warn("RL-143 {} asks for weaving when classes are loaded, and {}", file, what);
        }
    }

    /** Whether the agent of AspectJ was loaded with the JVM, or later. */
    private static boolean hasAgent() {
        try {
            return Class.forName("org.aspectj.weaver.loadtime.Agent", false, ClassLoader.getSystemClassLoader())
                            .getMethod("getInstrumentation")
                            .invoke(null)
                    != null;
        } catch (ReflectiveOperationException | LinkageError none) {
            // Not on the class path of the JVM, or there as a library and never started.
            return false;
        }
    }

    /** The file that says which classes are to be woven; null if there is none. Libraries have some that only name aspects. */
    private static @Nullable URL fileThatIncludes() {
        ClassLoader loader = ClassUtils.getDefaultClassLoader();
        try {
            for (String name : FILES) {
                for (URL file : loader == null ? List.<URL>of() : Collections.list(loader.getResources(name))) {
                    if (text(file).contains("<include")) {
                        return file;
                    }
                }
            }
        } catch (IOException unreadable) {
            LOG.debug("the files of the weaver can't be read", unreadable);
        }
        return null;
    }

    private static String text(URL file) throws IOException {
        URLConnection connection = file.openConnection();
        // A jar that stays open could not be replaced.
        connection.setUseCaches(false);
        try (InputStream bytes = connection.getInputStream()) {
            return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
