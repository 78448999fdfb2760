package io.limiter.spring.aop;

import io.limiter.PartitionKey;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.OperatorNot;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.StringUtils;

/** What is known of an expression's value before a call, by the types that the method declares. */
final class ValueType {
    private ValueType() {}

    /** Whether the value may be a whole key, or a list with a part for each item; true where nothing is known of it. */
    static boolean mayBeKeyOrList(SpelNode node, MethodSite site) {
        if (node instanceof Elvis || node instanceof Ternary) {
            // The first one of a ternary is the question.
            for (int i = node instanceof Ternary ? 1 : 0; i < node.getChildCount(); i++) {
                if (mayBeKeyOrList(node.getChild(i), site)) {
                    return true;
                }
            }
            return false;
        }
        Class<?> type = knownOf(node, site);
        return type == null
                || type == Object.class
                || type == PartitionKey.class
                || Collection.class.isAssignableFrom(type)
                || (type.isInterface() && type != CharSequence.class && type != Principal.class);
    }

    private static @Nullable Class<?> knownOf(SpelNode node, MethodSite site) {
        try {
            return of(node, site);
        } catch (LinkageError unreadable) {
            // One of its methods has a type of a library that is not there.
            return null;
        }
    }

    private static @Nullable Class<?> of(SpelNode node, MethodSite site) {
        if (node instanceof Literal || node instanceof Operator || node instanceof OperatorNot) {
            // A text, a number or a truth value: one part, whichever it is.
            return String.class;
        }
        if (node instanceof VariableReference variable) {
            Integer position = site.position(variable.toStringAST().substring(1));
            return position == null ? null : site.method().getParameterTypes()[position];
        }
        if (node instanceof PropertyOrFieldReference word) {
            return property(CallFacts.Words.class, word.getName());
        }
        if (node instanceof CompoundExpression) {
            Class<?> type = of(node.getChild(0), site);
            for (int i = 1; type != null && i < node.getChildCount(); i++) {
                type = step(type, node.getChild(i));
            }
            return type;
        }
        return null;
    }

    private static @Nullable Class<?> step(Class<?> type, SpelNode step) {
        if (step instanceof PropertyOrFieldReference property) {
            return property(type, property.getName());
        }
        return step instanceof MethodReference method ? result(type, method.getName(), method.getChildCount()) : null;
    }

    private static @Nullable Class<?> property(Class<?> type, String name) {
        String capitalized = StringUtils.capitalize(name);
        for (String getter : List.of("get" + capitalized, "is" + capitalized, name)) {
            Class<?> result = result(type, getter, 0);
            if (result != null) {
                return result;
            }
        }
        for (Field field : type.getFields()) {
            if (field.getName().equals(name)) {
                return field.getType();
            }
        }
        return null;
    }

    /** What the public methods of that name return; null where they differ, or there is none. */
    private static @Nullable Class<?> result(Class<?> type, String name, int parameters) {
        List<? extends Class<?>> results = Arrays.stream(type.getMethods())
                .filter(method ->
                        method.getName().equals(name) && method.getParameterCount() == parameters && !method.isBridge())
                .map(Method::getReturnType)
                .distinct()
                .toList();
        return results.size() == 1 ? results.get(0) : null;
    }
}
