package io.limiter.spring.internal;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ClassUtils;

/**
 * The value of an expression that only names a parameter or a word, getters of it, or a list of these. The result is that of
 * the language's interpreter, or {@link #UNKNOWN}. Thread-safe.
 *
 * <p>The interpreter takes 10 to 40 times as long, also with a lighter context. The language's compiler would serve for
 * single names, but it compiles no list, which is the usual key, and nothing of a class that is not public; it makes
 * classes at run time, which a native image can't; and it fails for an argument of another class than the first.
 */
@FunctionalInterface
interface DirectValue {
    /** Instead of a value: the interpreter has to evaluate it, or report an error. */
    Object UNKNOWN = new Object();

    /** The value for a call with these arguments. Never throws. */
    @Nullable
    Object of(@Nullable Object[] arguments);

    /** The value of a checked expression; null if only the interpreter can evaluate it. */
    static @Nullable DirectValue find(SpelNode node, MethodScope scope) {
        if (node instanceof Literal literal) {
            Object value = literal.getLiteralValue().getValue();
            return arguments -> value;
        }
        if (node instanceof VariableReference) {
            Integer position = scope.position(node.toStringAST().substring(1));
            return position == null ? null : arguments -> arguments[position];
        }
        if (node instanceof PropertyOrFieldReference word) {
            CallVariables.Words words = new CallVariables.Words(scope);
            return new OfProperty(arguments -> words, word.getName(), word.isNullSafe(), new ConcurrentHashMap<>());
        }
        if (node instanceof InlineList list && !list.isConstant()) {
            List<DirectValue> items = new ArrayList<>();
            CallExpression.children(node)
                    .forEach(child -> Stream.ofNullable(find(child, scope)).forEach(items::add));
            return items.size() == node.getChildCount() ? arguments -> ofItems(items, arguments) : null;
        }
        DirectValue value = node instanceof CompoundExpression ? find(node.getChild(0), scope) : null;
        for (int i = 1; i < node.getChildCount() && value != null; i++) {
            value = node.getChild(i) instanceof PropertyOrFieldReference property
                    ? new OfProperty(value, property.getName(), property.isNullSafe(), new ConcurrentHashMap<>())
                    : null;
        }
        return value;
    }

    private static Object ofItems(List<DirectValue> items, @Nullable Object[] arguments) {
        List<@Nullable Object> values = new ArrayList<>(items.size());
        for (DirectValue item : items) {
            values.add(item.of(arguments));
        }
        return values.contains(UNKNOWN) ? UNKNOWN : values;
    }

    /**
     * A property of a value.
     *
     * @param getters by the class of the value; empty if the interpreter must read it
     */
    record OfProperty(DirectValue source, String name, boolean nullSafe, Map<Class<?>, Optional<Method>> getters)
            implements DirectValue {
        @Override
        public @Nullable Object of(@Nullable Object[] arguments) {
            Object target = source.of(arguments);
            if (target == null || target == UNKNOWN) {
                return nullSafe ? target : UNKNOWN;
            }
            try {
                Optional<Method> getter = getters.get(target.getClass());
                if (getter == null) {
                    getter = Getters.ONLY.find(target, name);
                    getters.put(target.getClass(), getter);
                }
                return getter.isEmpty() ? UNKNOWN : getter.get().invoke(target, (Object[]) null);
            } catch (ReflectiveOperationException | AccessException | RuntimeException failed) {
                return UNKNOWN;
            }
        }
    }

    /** The getters that the language finds, also of a class that is not public. */
    final class Getters extends ReflectivePropertyAccessor {
        private static final Getters ONLY = new Getters();

        private Optional<Method> find(Object target, String name) throws AccessException {
            Class<?> type = target.getClass();
            boolean special = target instanceof Class || target instanceof ClassLoader || target instanceof Optional;
            return special || !CallVariables.canRead(target, name)
                    ? Optional.empty()
                    : Optional.ofNullable(findGetterForProperty(name, type, false))
                            .filter(getter -> getter.getDeclaringClass() != Object.class)
                            .map(getter -> ClassUtils.getPubliclyAccessibleMethodIfPossible(getter, type))
                            .filter(Method::trySetAccessible);
        }
    }
}
