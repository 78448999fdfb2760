package io.limiter.spring.expression;

import io.limiter.PartitionKey;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.OperatorNot;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.StringUtils;

/** What is known of an expression's values before a call, by the types that methods declare. */
final class DeclaredTypes {
    private final MethodScope scope;
    private final Function<String, @Nullable Class<?>> typeOfBean;
    private final Consumer<ResolvableType> met;

    /** Of a method's expressions; each type that is met on the way is handed over. */
    DeclaredTypes(MethodScope scope, Function<String, @Nullable Class<?>> typeOfBean, Consumer<ResolvableType> met) {
        this.scope = scope;
        this.typeOfBean = typeOfBean;
        this.met = met;
    }

    /** Whether the value may be a whole key, or a list with a part for each item; true where nothing is known of it. */
    static boolean mayBeKeyOrList(SpelNode node, MethodScope scope) {
        if (node instanceof Elvis || node instanceof Ternary) {
            // The first one of a ternary is the question.
            return children(node).skip(node instanceof Ternary ? 1 : 0).anyMatch(one -> mayBeKeyOrList(one, scope));
        }
        Class<?> type;
        try {
            type = new DeclaredTypes(scope, bean -> null, one -> {}).of(node).resolve();
        } catch (LinkageError unreadable) {
            // One of its methods has a type of a library that is not there.
            return true;
        }
        return type == null
                || type == Object.class
                || type == PartitionKey.class
                || Collection.class.isAssignableFrom(type)
                || (type.isInterface() && type != CharSequence.class && type != Principal.class);
    }

    /** All that a node can be; NONE where nobody knows. */
    ResolvableType of(SpelNode node) {
        ResolvableType type = ResolvableType.NONE;
        if (node instanceof CompoundExpression) {
            for (SpelNode step : children(node).toList()) {
                type = step == node.getChild(0) ? of(step) : handed(step, next(type, step));
            }
            return type;
        }
        return handed(node, first(node));
    }

    /** What stands inside of a node is met as well. */
    private ResolvableType handed(SpelNode node, ResolvableType type) {
        children(node).forEach(this::of);
        met.accept(type);
        return type;
    }

    private ResolvableType first(SpelNode node) {
        if (node instanceof Literal || node instanceof Operator || node instanceof OperatorNot) {
            // A text, a number or a truth value: one part, whichever it is.
            return ResolvableType.forClass(String.class);
        }
        if (node instanceof VariableReference) {
            Integer position = scope.position(node.toStringAST().substring(1));
            return position == null ? ResolvableType.NONE : ResolvableType.forMethodParameter(scope.method(), position);
        }
        if (node instanceof BeanReference) {
            return ResolvableType.forRawClass(
                    typeOfBean.apply(node.toStringAST().replaceAll("[@&']", "")));
        }
        return node instanceof PropertyOrFieldReference word
                ? property(ResolvableType.forClass(RequestWords.class), word.getName())
                : ResolvableType.NONE;
    }

    private static ResolvableType next(ResolvableType type, SpelNode step) {
        if (step instanceof PropertyOrFieldReference property) {
            return property(type, property.getName());
        }
        if (step instanceof MethodReference call) {
            return result(type, call.getName(), call.getChildCount());
        }
        if (step instanceof Indexer) {
            return type.isArray() ? type.getComponentType() : type.getGeneric(type.getGenerics().length - 1);
        }
        // Elements are read inside, and what comes of them is a list; both are kept with their container.
        return step instanceof Projection || step instanceof Selection ? type : ResolvableType.NONE;
    }

    private static ResolvableType property(ResolvableType type, String name) {
        String end = StringUtils.capitalize(name);
        return Stream.concat(
                        Stream.of("get" + end, "is" + end, name).map(getter -> result(type, getter, 0)),
                        Arrays.stream(type.toClass().getFields())
                                .filter(field -> field.getName().equals(name))
                                .map(field -> ResolvableType.forField(field, type)))
                .filter(result -> result != ResolvableType.NONE)
                .findFirst()
                .orElse(ResolvableType.NONE);
    }

    /** What the public methods of that name return; NONE where they differ, or there is none. */
    private static ResolvableType result(ResolvableType type, String name, int arguments) {
        List<Method> methods = Arrays.stream(type.toClass().getMethods())
                .filter(method ->
                        method.getName().equals(name) && method.getParameterCount() == arguments && !method.isBridge())
                .toList();
        return methods.stream().map(Method::getReturnType).distinct().count() == 1
                ? ResolvableType.forType(methods.get(0).getGenericReturnType(), type)
                : ResolvableType.NONE;
    }

    private static Stream<SpelNode> children(SpelNode node) {
        return Stream.iterate(0, i -> i + 1).limit(node.getChildCount()).map(node::getChild);
    }
}
