package io.limiter.spring.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.core.ResolvableType;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * What expressions read and call by reflection: methods and fields of the types that parameters, properties and results are
 * declared with, and of beans. What a value's class has beyond its declared type can't be known.
 */
final class ExpressionHints {
    /** The usual classes behind the interfaces of collections: expressions ask the class of the value. */
    private static final List<String> COLLECTIONS = List.of(
            "java.util.ArrayList",
            "java.util.Arrays$ArrayList",
            "java.util.LinkedList",
            "java.util.ImmutableCollections$List12",
            "java.util.ImmutableCollections$ListN",
            "java.util.Collections$UnmodifiableRandomAccessList",
            "java.util.HashSet",
            "java.util.LinkedHashSet",
            "java.util.TreeSet",
            "java.util.ImmutableCollections$Set12",
            "java.util.ImmutableCollections$SetN",
            "java.util.HashMap",
            "java.util.LinkedHashMap",
            "java.util.TreeMap",
            "java.util.ImmutableCollections$Map1",
            "java.util.ImmutableCollections$MapN");

    private final ReflectionHints hints;
    private final Function<String, @Nullable Class<?>> typeOfBean;
    private final Set<Class<?>> known = new HashSet<>();

    /** Adds to hints; beans are known by their names. */
    ExpressionHints(ReflectionHints hints, Function<String, @Nullable Class<?>> typeOfBean) {
        this.hints = hints;
        this.typeOfBean = typeOfBean;
    }

    /** Adds what the text of an attribute needs. A text that is wrong needs nothing: the start tells it. */
    void add(String text, AnnotatedMethod method) {
        if (text.isBlank()) {
            return;
        }
        SpelExpression expression;
        try {
            expression = new SpelExpressionParser().parseRaw(text);
        } catch (ParseException | IllegalStateException broken) {
            return;
        }
        add(expression.getAST(), new MethodSite(method.specific(), method.called(), null, Beans.NONE));
    }

    /** All that a node and what is in it can be, from the types that are declared; NONE where nobody knows. */
    private ResolvableType add(SpelNode node, MethodSite site) {
        if (!(node instanceof CompoundExpression)) {
            for (int i = 0; i < node.getChildCount(); i++) {
                add(node.getChild(i), site);
            }
            return keep(start(node, site));
        }
        ResolvableType type = add(node.getChild(0), site);
        for (int i = 1; i < node.getChildCount(); i++) {
            SpelNode step = node.getChild(i);
            for (int j = 0; j < step.getChildCount(); j++) {
                add(step.getChild(j), site);
            }
            type = keep(next(type, step));
        }
        return type;
    }

    private ResolvableType start(SpelNode node, MethodSite site) {
        if (node instanceof VariableReference) {
            Integer position = site.position(node.toStringAST().substring(1));
            return position == null ? ResolvableType.NONE : ResolvableType.forMethodParameter(site.method(), position);
        }
        if (node instanceof BeanReference) {
            Class<?> type = typeOfBean.apply(node.toStringAST().replaceAll("[@&']", ""));
            return type == null ? ResolvableType.NONE : ResolvableType.forClass(type);
        }
        return ResolvableType.NONE;
    }

    private ResolvableType next(ResolvableType type, SpelNode step) {
        Class<?> from = type.resolve();
        if (from == null) {
            return ResolvableType.NONE;
        }
        if (step instanceof PropertyOrFieldReference property) {
            return property(type, from, property.getName());
        }
        if (step instanceof MethodReference call) {
            return result(type, from, call.getName(), call.getChildCount());
        }
        if (step instanceof Indexer) {
            return type.isArray() ? type.getComponentType() : type.getGeneric(type.getGenerics().length - 1);
        }
        // Elements are read inside, and what comes of them is a list; both are kept with their container.
        return step instanceof Projection || step instanceof Selection ? type : ResolvableType.NONE;
    }

    private static ResolvableType property(ResolvableType type, Class<?> from, String name) {
        String end = name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        for (Method method : from.getMethods()) {
            boolean isGetter = method.getParameterCount() == 0
                    && (method.getName().equals("get" + end)
                            || method.getName().equals("is" + end)
                            || method.getName().equals(name));
            if (isGetter && !method.isBridge()) {
                return ResolvableType.forType(method.getGenericReturnType(), type);
            }
        }
        for (Field field : from.getFields()) {
            if (field.getName().equals(name)) {
                return ResolvableType.forField(field, type);
            }
        }
        return ResolvableType.NONE;
    }

    private static ResolvableType result(ResolvableType type, Class<?> from, String name, int arguments) {
        for (Method method : from.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments && !method.isBridge()) {
                return ResolvableType.forType(method.getGenericReturnType(), type);
            }
        }
        return ResolvableType.NONE;
    }

    /** A type that a value is declared with, and those that stand in its brackets. */
    private ResolvableType keep(ResolvableType type) {
        for (ResolvableType inner : type.getGenerics()) {
            keep(inner);
        }
        if (type.isArray()) {
            keep(type.getComponentType());
        }
        Class<?> resolved = type.resolve();
        if (resolved == null || resolved.isPrimitive() || resolved == Object.class || !known.add(resolved)) {
            return type;
        }
        hints.registerType(resolved, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (Field field : resolved.getFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                hints.registerField(field);
            }
        }
        if (resolved.isInterface()
                && (Collection.class.isAssignableFrom(resolved) || Map.class.isAssignableFrom(resolved))) {
            for (String collection : COLLECTIONS) {
                hints.registerType(TypeReference.of(collection), MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
        return type;
    }
}
