package io.limiter.servlet;

import jakarta.servlet.ServletContext;

/** Where classes and files of an application are found. */
final class ClassPath {
    private ClassPath() {}

    /** That of the web application; where the container gives it none, as embedded Jetty does, that of this thread. */
    static ClassLoader of(ServletContext webApp) {
        ClassLoader own = webApp.getClassLoader();
        return own == null ? ofThisThread() : own;
    }

    /** The context class loader; where the thread has none, the one that has loaded the limiter. */
    static ClassLoader ofThisThread() {
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        return ofThread == null ? ClassPath.class.getClassLoader() : ofThread;
    }
}
