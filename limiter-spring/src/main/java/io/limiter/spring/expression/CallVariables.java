package io.limiter.spring.expression;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * What an expression sees of one call: parameters, beans, and the words of the request. Nothing can be assigned, no type is
 * found by its name, nothing is made, and of methods those of {@code Object} and {@code Class} are out of reach. Methods of
 * parameters and beans can be called, whatever they do.
 */
final class CallVariables extends StandardEvaluationContext {
    /** Spring's own for such a fence; it knows no beans, and has a map of variables. */
    private static final EvaluationContext FENCE = SimpleEvaluationContext.forReadOnlyDataBinding()
            .withInstanceMethods()
            .build();

    private final MethodScope scope;
    private final @Nullable Object[] arguments;

    CallVariables(MethodScope scope, MethodCall call) {
        super(new RequestWords(scope));
        this.scope = scope;
        this.arguments = call.arguments();
        setPropertyAccessors(FENCE.getPropertyAccessors());
        setMethodResolvers(FENCE.getMethodResolvers());
        setConstructorResolvers(List.of());
        setTypeLocator(FENCE.getTypeLocator());
        setBeanResolver(
                (variables, name) -> Objects.requireNonNull(scope.beans()).get().apply(name));
    }

    /** Whether it sees a property of a value. */
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
