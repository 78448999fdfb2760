package io.limiter.spring.expression;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * What expressions read and call by reflection: methods and fields of the types that parameters, properties and results are
 * declared with, and of beans. What a value's class has beyond its declared type can't be known.
 */
public final class ExpressionHints {
    /** The usual classes behind the interfaces of collections, in java.util: expressions ask the class of the value. */
    private static final String COLLECTIONS = "ArrayList LinkedList Arrays$ArrayList HashSet LinkedHashSet TreeSet"
            + " HashMap LinkedHashMap TreeMap Collections$UnmodifiableRandomAccessList"
            + " ImmutableCollections$List12 ImmutableCollections$ListN ImmutableCollections$Set12"
            + " ImmutableCollections$SetN ImmutableCollections$Map1 ImmutableCollections$MapN";

    private final ReflectionHints hints;
    private final Function<String, @Nullable Class<?>> typeOfBean;
    private final Set<Class<?>> known = new HashSet<>();

    /** Adds to hints; beans are known by their names. */
    public ExpressionHints(ReflectionHints hints, Function<String, @Nullable Class<?>> typeOfBean) {
        this.hints = hints;
        this.typeOfBean = typeOfBean;
    }

    /** Adds what the text of an attribute needs. A text that is wrong needs nothing: the start tells it. */
    public void add(String text, MethodScope scope) {
        if (!text.isBlank()) {
            try {
                new DeclaredTypes(scope, typeOfBean, this::add)
                        .of(new SpelExpressionParser().parseRaw(text).getAST());
            } catch (ParseException | IllegalStateException broken) {
                return;
            }
        }
    }

    /** A type that a value is declared with, and those that stand in its brackets. */
    private void add(ResolvableType type) {
        for (ResolvableType inner : type.getGenerics()) {
            add(inner);
        }
        if (type.isArray()) {
            add(type.getComponentType());
        }
        Class<?> resolved = type.resolve();
        if (resolved == null || resolved.isPrimitive() || resolved == Object.class || !known.add(resolved)) {
            return;
        }
        hints.registerType(resolved, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (Field field : resolved.getFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                hints.registerField(field);
            }
        }
        if (resolved.isInterface()
                && (Collection.class.isAssignableFrom(resolved) || Map.class.isAssignableFrom(resolved))) {
            for (String collection : COLLECTIONS.split(" ")) {
                hints.registerType(TypeReference.of("java.util." + collection), MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
    }
}
