package io.limiter.spring.aop;

import io.limiter.spring.RateLimited;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/** Which methods AspectJ has woven, as far as a class shows it: a method with advice around it leaves its body in another one. */
final class WovenClasses {
    private static final Pattern BODY = Pattern.compile("_aroundBody[0-9]+(\\$advice)?");

    private WovenClasses() {}

    /**
     * Checks that the methods of these classes that a weaver sees the annotation on are woven.
     *
     * @throws IllegalStateException if one of them is not, or a class has none of them
     */
    static void require(Class<?>... types) {
        List<String> problems = new ArrayList<>();
        for (Class<?> given : types) {
            List<Method> annotated = annotated(ClassUtils.getUserClass(given));
            if (annotated.isEmpty()) {
                problems.add(given.getName() + " (it has no method with the annotation that a weaver sees)");
            }
            annotated.stream()
                    .filter(method -> !isWoven(method))
                    .map(MethodSite::described)
                    .forEach(problems::add);
        }
        if (!problems.isEmpty()) {
            throw new IllegalStateException(Wrong.NOT_WOVEN + " not woven, so not limited: "
                    + String.join(", ", problems)
                    + "; start the JVM with -javaagent:aspectjweaver-<version>.jar and include their package in"
                    + " META-INF/aop.xml, or weave when compiling (aspectj-maven-plugin)");
        }
    }

    private static List<Method> annotated(Class<?> type) {
        List<Method> annotated = new ArrayList<>();
        for (Class<?> one = type; one != null && one != Object.class; one = one.getSuperclass()) {
            boolean ofClass = isAnnotated(one, SearchStrategy.INHERITED_ANNOTATIONS);
            for (Method method : one.getDeclaredMethods()) {
                boolean isCode = !method.isSynthetic()
                        && !Modifier.isAbstract(method.getModifiers())
                        && !BODY.matcher(method.getName()).find();
                if (isCode
                        && (isAnnotated(method, SearchStrategy.DIRECT)
                                || (ofClass && Modifier.isPublic(method.getModifiers())))) {
                    annotated.add(method);
                }
            }
        }
        return annotated;
    }

    private static boolean isAnnotated(AnnotatedElement element, SearchStrategy strategy) {
        return MergedAnnotations.from(element, strategy).isPresent(RateLimited.class);
    }

    /** The method that has its body now takes the object and the arguments first, and then what the weaver adds. */
    private static boolean isWoven(Method method) {
        List<Class<?>> first = new ArrayList<>();
        if (!Modifier.isStatic(method.getModifiers())) {
            first.add(method.getDeclaringClass());
        }
        first.addAll(List.of(method.getParameterTypes()));
        return Arrays.stream(method.getDeclaringClass().getDeclaredMethods())
                .anyMatch(body -> body.getName().startsWith(method.getName())
                        && BODY.matcher(body.getName()
                                        .substring(method.getName().length()))
                                .matches()
                        && body.getParameterCount() > first.size()
                        && List.of(body.getParameterTypes())
                                .subList(0, first.size())
                                .equals(first));
    }
}
