package io.limiter.spring.internal;

import io.limiter.PartitionKey;
import io.limiter.internal.rule.KeyFold;
import java.security.Principal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The variables of an expression in one call: parameters, beans, and the words of the request ({@link Words}). An expression can't
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
        super(new Words(scope));
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

    /** The words without {@code #}: properties of the root object. Its methods are public, because the language calls no others. */
    static final class Words {
        private final MethodScope scope;

        Words(MethodScope scope) {
            this.scope = scope;
        }

        /** The client's address. */
        public String getIp() {
            return scope.requiredCaller().address();
        }

        /** The name of the authenticated user, or null. */
        public @Nullable String getUser() {
            Principal principal = getPrincipal();
            return principal == null ? null : principal.getName();
        }

        /** The authenticated user, or null. */
        public @Nullable Principal getPrincipal() {
            return scope.requiredCaller().principal();
        }

        /** The key of a shared quota. */
        public PartitionKey getGlobal() {
            return PartitionKey.global();
        }

        /** One text for all spellings of a name. */
        public String fold(@Nullable String name) {
            return name == null ? "" : KeyFold.of(name);
        }
    }
}
