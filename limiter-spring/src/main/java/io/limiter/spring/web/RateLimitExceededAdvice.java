package io.limiter.spring.web;

import io.limiter.application.Limiter;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.servlet.rejection.Rejections;
import io.limiter.spring.RateLimitExceededException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.Order;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers a request in which the controller, or a method that it called, was denied: with the same status, fields and
 * body as the filter of limiter-servlet. A bean of type {@link io.limiter.servlet.rejection.RejectionHandler} replaces
 * the body. Thread-safe.
 *
 * <p>It comes before an advice without an order, so that one for all exceptions does not answer 500. To answer
 * differently, write an {@code @ExceptionHandler(RateLimitExceededException.class)}: in a controller it goes first
 * anyway, and with one in
 * a {@code @ControllerAdvice} this class is not used at all.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 100)
public class RateLimitExceededAdvice {
    private final Supplier<Rejections> rejections;

    /** An advice with the answers of this supplier. */
    public RateLimitExceededAdvice(Supplier<Rejections> rejections) {
        this.rejections = rejections;
    }

    /**
     * An advice with the answers of a limiter's current configuration, or of the handler bean if there is one.
     */
    public static RateLimitExceededAdvice of(Limiter limiter, ObjectProvider<RejectionHandler> handlers) {
        RejectionHandler handler = handlers.getIfAvailable();
        return new RateLimitExceededAdvice(limiter.<Rejections>derive(
                config -> handler == null ? Rejections.of(config) : Rejections.of(config, handler))::get);
    }

    /**
     * Whether a {@code @ControllerAdvice} of the application handles the exception explicitly. One for all exceptions
     * does not count.
     *
     * @param factory with the definitions of all beans of the application; its parents are checked too
     */
    public static boolean isReplaced(ListableBeanFactory factory) {
        return Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, Object.class, true, false))
                .map(name -> factory.getType(name, false))
                .filter(type -> type != null
                        && !RateLimitExceededAdvice.class.isAssignableFrom(type)
                        && MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY)
                                .isPresent(ControllerAdvice.class))
                .flatMap(type -> Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(ClassUtils.getUserClass(type))))
                .anyMatch(RateLimitExceededAdvice::handles);
    }

    private static boolean handles(Method method) {
        MergedAnnotation<?> handler =
                MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(ExceptionHandler.class);
        return handler.isPresent()
                && (List.of(handler.getClassArray("value")).contains(RateLimitExceededException.class)
                        || List.of(method.getParameterTypes()).contains(RateLimitExceededException.class));
    }

    /**
     * Writes the answer; if the response is committed, the exception is passed to the container, which aborts it, and also
     * if it is a copy from another JVM.
     */
    @ExceptionHandler
    public void answer(RateLimitExceededException exception, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (response.isCommitted() || Objects.isNull(exception.decision())) {
            // With half an answer sent, the container must not complete it normally.
            throw exception;
        }
        rejections.get().write(exception.decision(), request, response);
    }
}
