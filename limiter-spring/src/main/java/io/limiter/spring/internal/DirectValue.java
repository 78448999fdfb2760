package io.limiter.spring.internal;

import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
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
import org.springframework.util.ReflectionUtils;

/**
 * The value of an expression that only names a parameter or a word, properties of it, or a list of these, without the
 * interpreter of the language, which takes ten times as long. The result is the same as that of the interpreter, or
 * {@link #UNKNOWN}.
 * Thread-safe.
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
            return new OfProperty(arguments -> words, word);
        }
        if (node instanceof InlineList list && !list.isConstant()) {
            List<DirectValue> items = new ArrayList<>();
            children(node)
                    .forEach(child -> Stream.ofNullable(find(child, scope)).forEach(items::add));
            return items.size() == node.getChildCount() ? arguments -> ofItems(items, arguments) : null;
        }
        DirectValue value = node instanceof CompoundExpression ? find(node.getChild(0), scope) : null;
        for (int i = 1; i < node.getChildCount() && value != null; i++) {
            value = node.getChild(i) instanceof PropertyOrFieldReference property
                    ? new OfProperty(value, property)
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

    /** How the language reads a property of a class. */
    final class Properties extends ReflectivePropertyAccessor {
        private static final Properties ONLY = new Properties();

        private Properties() {
            super(false);
        }

        /** Like the accessor of {@link CallVariables}. */
        @Override
        protected boolean isCandidateForProperty(Method method, Class<?> targetClass) {
            Class<?> type = method.getDeclaringClass();
            return type != Object.class && type != Class.class && !ClassLoader.class.isAssignableFrom(targetClass);
        }

        private @Nullable Member find(String name, Class<?> type) {
            Method getter = findGetterForProperty(name, type, false);
            if (getter == null) {
                return findField(name, type, false);
            }
            Method callable = ClassUtils.getPubliclyAccessibleMethodIfPossible(getter, type);
            ReflectionUtils.makeAccessible(callable);
            return callable;
        }
    }

    /** A property of a value. */
    final class OfProperty implements DirectValue {
        private final DirectValue source;
        private final String name;
        private final boolean nullSafe;
        /** By the class of the value; empty if the interpreter must read it. */
        private final Map<Class<?>, Optional<Member>> members = new ConcurrentHashMap<>();

        private OfProperty(DirectValue source, PropertyOrFieldReference property) {
            this.source = source;
            this.name = property.getName();
            this.nullSafe = property.isNullSafe();
        }

        @Override
        public @Nullable Object of(@Nullable Object[] arguments) {
            Object target = source.of(arguments);
            if (target == null || target == UNKNOWN) {
                return nullSafe ? target : UNKNOWN;
            }
            try {
                Optional<Member> member = members.get(target.getClass());
                if (member == null) {
                    member = find(target);
                    members.put(target.getClass(), member);
                }
                return member.isEmpty()
                        ? UNKNOWN
                        : member.get() instanceof Method getter
                                ? getter.invoke(target, (Object[]) null)
                                : ((Field) member.get()).get(target);
            } catch (ReflectiveOperationException | AccessException | RuntimeException failed) {
                return UNKNOWN;
            }
        }

        private Optional<Member> find(Object target) throws AccessException {
            boolean special = target instanceof Class || target instanceof Optional;
            return special || !CallVariables.canRead(target, name)
                    ? Optional.empty()
                    : Optional.ofNullable(Properties.ONLY.find(name, target.getClass()));
        }
    }

    static List<SpelNode> children(SpelNode node) {
        return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild).toList();
    }
}
