package io.limiter.spring.internal;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The variables of an expression in one call: parameters, beans, and the words of the request. An expression can't
 * assign values, find types by name, create objects, or call methods of {@code Object} and {@code Class}. It can call
 * any methods of parameters and beans.
 */
final class CallVariables extends StandardEvaluationContext {
    /** Spring's own restricted context; it has no beans, and has a map of variables. */
    private static final EvaluationContext FENCE = SimpleEvaluationContext.forReadOnlyDataBinding()
            .withInstanceMethods()
            .build();

    private final MethodScope scope;
    private final @Nullable Object[] arguments;

    CallVariables(MethodScope scope, @Nullable Object[] arguments) {
        super(new RequestWords(scope));
        this.scope = scope;
        this.arguments = arguments;
        setPropertyAccessors(FENCE.getPropertyAccessors());
        setMethodResolvers(FENCE.getMethodResolvers());
        setConstructorResolvers(List.of());
        setTypeLocator(FENCE.getTypeLocator());
        setBeanResolver(
                (variables, name) -> Objects.requireNonNull(scope.beans()).get().apply(name));
    }

    /** Whether it can read a property of a value. */
    static boolean canRead(Object target, String property) throws AccessException {
        return FENCE.getPropertyAccessors().get(0).canRead(FENCE, target, property);
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        Integer position = scope.position(name);
        return position == null ? null : arguments[position];
    }

    @Override
    public boolean isAssignmentEnabled() {
        return false;
    }
}
