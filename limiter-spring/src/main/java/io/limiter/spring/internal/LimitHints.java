package io.limiter.spring.internal;

import io.limiter.spring.RateLimited;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;

/**
 * Hints for native images. For any application: the scripts, and the reflection of annotations and expressions. For a
 * bean with limited methods: its methods, which are looked up by reflection, and fallbacks by name; its annotations;
 * and the values that their expressions read.
 */
final class LimitHints implements RuntimeHintsRegistrar, BeanRegistrationAotProcessor {
    /** The usual implementations of collections in java.util: expressions use the class of the value. */
    private static final String COLLECTIONS = "ArrayList LinkedList Arrays$ArrayList HashSet LinkedHashSet TreeSet"
            + " HashMap LinkedHashMap TreeMap Collections$UnmodifiableRandomAccessList"
            + " ImmutableCollections$List12 ImmutableCollections$ListN ImmutableCollections$Set12"
            + " ImmutableCollections$SetN ImmutableCollections$Map1 ImmutableCollections$MapN";

    /** A bean that an expression names: {@code @name} or {@code @'any name'}. */
    private static final Pattern BEAN = Pattern.compile("@&?'?((?<=')[^']+|\\w+)");

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("io/limiter/redis/*.lua");
        hints.resources().registerPattern("io/limiter/control/*");
        hints.resources().registerPattern("io/limiter/internal/config/properties.txt");
        hints.reflection()
                .registerType(RateLimited.class, MemberCategory.INVOKE_DECLARED_METHODS)
                .registerType(RateLimited.List.class, MemberCategory.INVOKE_DECLARED_METHODS)
                .registerType(CallVariables.Words.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (String collection : COLLECTIONS.split(" ")) {
            hints.reflection()
                    .registerType(TypeReference.of("java.util." + collection), MemberCategory.INVOKE_PUBLIC_METHODS);
        }
        for (String client : List.of("org.redisson.api.RedissonClient", "io.lettuce.core.RedisClient")) {
            hints.reflection().registerTypeIfPresent(classLoader, client);
        }
        hints.proxies().registerJdkProxy(RateLimited.class);
    }

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = bean.getBeanClass();
        List<AnnotatedMethod> methods = AnnotatedMethod.of(type);
        if (methods.isEmpty()) {
            return null;
        }
        ConfigurableListableBeanFactory beans = bean.getBeanFactory();
        return (generation, code) -> {
            ReflectionHints hints = generation.getRuntimeHints().reflection();
            // Methods are looked up in what it extends and implements, too.
            Stream.<Class<?>>iterate(type, one -> one != null && one != Object.class, Class::getSuperclass)
                    .flatMap(one -> Stream.concat(Stream.of(one), Stream.of(one.getInterfaces())))
                    .forEach(one -> hints.registerType(
                            one, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.INVOKE_DECLARED_METHODS));
            for (AnnotatedMethod method : methods) {
                addRead(hints, method.specific().getGenericParameterTypes());
                for (MergedAnnotation<RateLimited> found : method.annotations()) {
                    if (!found.getString("settle").isEmpty()) {
                        addRead(hints, method.specific().getGenericReturnType());
                    }
                    // It may be a meta-annotation on an annotation of the application, which is read too.
                    for (MergedAnnotation<?> one = found; one != null; one = one.getMetaSource()) {
                        hints.registerType(one.getType(), MemberCategory.INVOKE_DECLARED_METHODS);
                    }
                    Stream.of("key", "member", "permits", "plan", "condition", "settle")
                            .flatMap(attribute ->
                                    BEAN.matcher(found.getString(attribute)).results())
                            .map(match -> match.group(1))
                            .filter(beans::containsBean)
                            .map(beans::getType)
                            .filter(Objects::nonNull)
                            .forEach(named -> hints.registerType(named, MemberCategory.INVOKE_PUBLIC_METHODS));
                }
            }
        };
    }

    /** Registers what expressions may read: all properties of values of these types, and their methods. */
    private static void addRead(ReflectionHints hints, Type... types) {
        new BindingReflectionHintsRegistrar().registerReflectionHints(hints, types);
        for (Type type : types) {
            hints.registerType(ResolvableType.forType(type).toClass(), MemberCategory.INVOKE_PUBLIC_METHODS);
        }
    }
}
