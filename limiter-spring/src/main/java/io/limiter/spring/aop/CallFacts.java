package io.limiter.spring.aop;

import io.limiter.PartitionKey;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
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
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.StandardOperatorOverloader;
import org.springframework.expression.spel.support.StandardTypeComparator;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * What an expression sees of one call: parameters, beans, and the words of the request. Nothing can be assigned, no type is
 * found by its name, nothing is made, and of methods those of {@code Object} and {@code Class} are out of reach. Methods of
 * parameters and beans can be called, whatever they do.
 */
final class CallFacts implements EvaluationContext {
    private static final List<PropertyAccessor> PROPERTIES = List.of(DataBindingPropertyAccessor.forReadOnlyAccess());
    private static final List<MethodResolver> METHODS =
            List.of(DataBindingMethodResolver.forInstanceMethodInvocation());
    private static final TypeConverter CONVERTER = new StandardTypeConverter();
    private static final TypeComparator COMPARATOR = new StandardTypeComparator();
    private static final OperatorOverloader OPERATORS = new StandardOperatorOverloader();
    private static final TypeLocator NO_TYPES = name -> {
        throw new SpelEvaluationException(SpelMessage.TYPE_NOT_FOUND, name);
    };

    private final MethodSite site;
    private final MethodCall call;
    private final TypedValue root;

    CallFacts(MethodSite site, MethodCall call) {
        this.site = site;
        this.call = call;
        this.root = new TypedValue(new Words(site, call));
    }

    /** The words without {@code #}: properties of the root. Public, so that the compiled expression may call it. */
    public static final class Words {
        private final MethodSite site;
        private final MethodCall call;

        Words(MethodSite site, MethodCall call) {
            this.site = site;
            this.call = call;
        }

        /** The client's address. */
        public String getIp() {
            return caller().address();
        }

        /** The name of who is logged in, or null. */
        public @Nullable String getUser() {
            Principal principal = caller().principal();
            return principal == null ? null : principal.getName();
        }

        /** Who is logged in, or null. */
        public @Nullable Principal getPrincipal() {
            return caller().principal();
        }

        /** One quota for all. */
        public PartitionKey getGlobal() {
            return PartitionKey.global();
        }

        private Caller caller() {
            Caller caller = call.caller(site.callers());
            if (caller == null) {
                throw MethodKey.noRequest(site);
            }
            return caller;
        }
    }

    @Override
    public TypedValue getRootObject() {
        return root;
    }

    @Override
    public List<PropertyAccessor> getPropertyAccessors() {
        return PROPERTIES;
    }

    @Override
    public List<ConstructorResolver> getConstructorResolvers() {
        return List.of();
    }

    @Override
    public List<MethodResolver> getMethodResolvers() {
        return METHODS;
    }

    @Override
    public BeanResolver getBeanResolver() {
        return (facts, name) -> site.beans().get(name);
    }

    @Override
    public TypeLocator getTypeLocator() {
        return NO_TYPES;
    }

    @Override
    public TypeConverter getTypeConverter() {
        return CONVERTER;
    }

    @Override
    public TypeComparator getTypeComparator() {
        return COMPARATOR;
    }

    @Override
    public OperatorOverloader getOperatorOverloader() {
        return OPERATORS;
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        Integer position = site.position(name);
        return position == null ? null : call.arguments()[position];
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
