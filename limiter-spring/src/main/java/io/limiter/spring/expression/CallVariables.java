package io.limiter.spring.expression;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * What an expression sees of one call: parameters, beans, and the words of the request. Nothing can be assigned, no type is
 * found by its name, nothing is made, and of methods those of {@code Object} and {@code Class} are out of reach. Methods of
 * parameters and beans can be called, whatever they do.
 */
final class CallVariables implements EvaluationContext {
    /** Spring's own for such a fence; it knows no beans, and has a map of variables. */
    private static final EvaluationContext FENCE = SimpleEvaluationContext.forReadOnlyDataBinding()
            .withInstanceMethods()
            .build();

    private final MethodScope scope;
    private final @Nullable Object[] arguments;
    private final TypedValue root;

    CallVariables(MethodScope scope, MethodCall call) {
        this.scope = scope;
        this.arguments = call.arguments();
        this.root = new TypedValue(new RequestWords(scope));
    }

    @Override
    public TypedValue getRootObject() {
        return root;
    }

    @Override
    public List<PropertyAccessor> getPropertyAccessors() {
        return FENCE.getPropertyAccessors();
    }

    @Override
    public List<MethodResolver> getMethodResolvers() {
        return FENCE.getMethodResolvers();
    }

    @Override
    public BeanResolver getBeanResolver() {
        return (variables, name) -> Objects.requireNonNull(scope.beans()).get().apply(name);
    }

    @Override
    public TypeLocator getTypeLocator() {
        return FENCE.getTypeLocator();
    }

    @Override
    public TypeConverter getTypeConverter() {
        return FENCE.getTypeConverter();
    }

    @Override
    public TypeComparator getTypeComparator() {
        return FENCE.getTypeComparator();
    }

    @Override
    public OperatorOverloader getOperatorOverloader() {
        return FENCE.getOperatorOverloader();
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        Integer position = scope.position(name);
        return position == null ? null : arguments[position];
    }

    @Override
    public void setVariable(String name, @Nullable Object value) {
        throw new SpelEvaluationException(SpelMessage.VARIABLE_ASSIGNMENT_NOT_SUPPORTED, name);
    }

    @Override
    public boolean isAssignmentEnabled() {
        return false;
    }
}
