package io.limiter.spring.internal;

import io.limiter.PartitionKey;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.OperatorNot;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * An expression of an annotation: parsed once, with its parameters, beans and words resolved before the first call.
 * Thread-safe.
 */
final class CallExpression {
    // Compiled code fails for an argument of another class than the first; a system property must not enable it.
    private static final SpelExpressionParser PARSER =
            new SpelExpressionParser(new SpelParserConfiguration(SpelCompilerMode.OFF, null));

    /** The properties of the root object: see {@link CallVariables.Words}. */
    private static final List<String> WORDS = List.of("ip", "user", "principal", "global");

    /** Makes one text of the spellings of a name. */
    static final String FOLD = "fold";

    private static final Set<Class<? extends SpelNode>> FORBIDDEN = Set.of(
            TypeReference.class,
            ConstructorReference.class,
            FunctionReference.class,
            Assign.class,
            OpInc.class,
            OpDec.class);

    private final MethodScope scope;
    private final String attribute;
    private final String text;
    private final SpelNode root;
    private final SpelExpression expression;
    /** Null if only the interpreter can evaluate it. */
    private final @Nullable DirectValue direct;

    /**
     * The expression of an attribute.
     *
     * @throws IllegalStateException if it can't be parsed, or names something that does not exist; the message contains
     *     what to write
     */
    CallExpression(MethodScope scope, String attribute, String text) {
        this.scope = scope;
        this.attribute = attribute;
        this.text = text;
        try {
            this.expression = PARSER.parseRaw(text);
        } catch (ParseException | IllegalStateException | IllegalArgumentException broken) {
            throw scope.error(
                    "RL-123",
                    attribute + " = \"" + text + "\" is not an expression (" + broken.getMessage()
                            + "); write one such as #user. Parts of rules such as header:X-Api-Key work in limiter.rules only: take the"
                            + " value as a parameter, @RequestHeader(\"X-Api-Key\") String it, and write #it",
                    broken);
        }
        this.root = expression.getAST();
        check(root, true);
        this.direct = DirectValue.find(root, scope);
    }

    /** The same; null if there is no text. */
    static @Nullable CallExpression parseUnlessBlank(MethodScope scope, String attribute, String text) {
        return text.isBlank() ? null : new CallExpression(scope, attribute, text);
    }

    /**
     * The words in the parts of a key, null for other parts: for {@code {ip, #account}} the first is {@code ip}.
     */
    List<@Nullable String> words() {
        List<@Nullable String> words = new ArrayList<>();
        (root instanceof InlineList ? children(root) : List.of(root)).forEach(part -> words.add(word(part)));
        return words;
    }

    /** The parts of a key, in one spelling each. */
    List<String> parts() {
        return (root instanceof InlineList ? children(root) : List.of(root))
                .stream().map(SpelNode::toStringAST).toList();
    }

    private static @Nullable String word(SpelNode node) {
        return node instanceof PropertyOrFieldReference word ? word.getName() : isFold(node) ? FOLD : null;
    }

    /** Whether its value may be a whole key or a list of unknown parts: not that of a word, a list, or a parameter of a final type. */
    boolean mayBeKeyOrList() {
        if (root instanceof VariableReference) {
            int position =
                    Objects.requireNonNull(scope.position(root.toStringAST().substring(1)));
            Class<?> type = scope.method().getParameterTypes()[position];
            return type == PartitionKey.class || !Modifier.isFinal(type.getModifiers());
        }
        return !(root instanceof InlineList || root instanceof Operator || isLiteral(root) || word(root) != null);
    }

    static List<SpelNode> children(SpelNode node) {
        return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild).toList();
    }

    private static boolean isFold(SpelNode node) {
        return node instanceof MethodReference method && method.getName().equals(FOLD) && method.getChildCount() == 1;
    }

    /** Its value for every call, if it is constant: a number, a text in quotes, {@code global}; else null. */
    @Nullable
    Object constant() {
        return isLiteral(root) || "global".equals(word(root)) ? value(new Object[0]) : null;
    }

    private static boolean isLiteral(SpelNode node) {
        return node instanceof Literal
                || ((node instanceof Operator || node instanceof OperatorNot)
                        && children(node).stream().allMatch(CallExpression::isLiteral));
    }

    /** Its value for a call with these arguments. */
    @Nullable
    Object value(@Nullable Object[] arguments) {
        Object value = direct == null ? DirectValue.UNKNOWN : direct.of(arguments);
        return value == DirectValue.UNKNOWN ? interpreted(arguments) : value;
    }

    private @Nullable Object interpreted(@Nullable Object[] arguments) {
        try {
            return expression.getValue(new CallVariables(scope, arguments));
        } catch (RuntimeException failed) {
            // The language wraps an exception of a word, which already names the method and the remedy.
            if (NestedExceptionUtils.getMostSpecificCause(failed) instanceof IllegalStateException wrong
                    && String.valueOf(wrong.getMessage()).startsWith("RL-128")) {
                throw wrong;
            }
            throw scope.error(
                    "RL-132",
                    attribute + " = \"" + text + "\" failed ("
                            + failed.getClass().getSimpleName()
                            + "); write it so that it has a value for every call, for example #user?.name",
                    failed);
        }
    }

    /** An exception for a value that can't be used. */
    public IllegalStateException unusable(String found, String remedy) {
        return scope.error("RL-132", attribute + " = \"" + text + "\" gave " + found + "; " + remedy);
    }

    /** Checks every name. At the root, names without a prefix are words; after a dot they are members of the value before it. */
    private void check(SpelNode node, boolean atRoot) {
        if (FORBIDDEN.contains(node.getClass())) {
            throw unknown(
                    node.toStringAST(),
                    "is a type, a function or an assignment, which are not allowed here; put it into a bean, and call that:"
                            + " @keys.of(#p0)");
        }
        if (node instanceof VariableReference) {
            checkVariable(node.toStringAST().substring(1), atRoot);
        } else if (node instanceof BeanReference) {
            checkBean(node.toStringAST());
        } else if (atRoot && node instanceof PropertyOrFieldReference word) {
            checkWord(word.getName());
        } else if (atRoot && node instanceof MethodReference method && !isFold(node)) {
            throw unknown(
                    method.getName() + "(...)", "has no object; call methods of parameters or beans, or fold(#name)");
        }
        for (SpelNode child : children(node)) {
            if (node instanceof CompoundExpression && child != node.getChild(0)) {
                // A property, a method or an index of the value before it; its arguments are separate expressions.
                children(child).forEach(argument -> check(argument, !isNested(child)));
            } else {
                check(child, atRoot && !isNested(node));
            }
        }
    }

    private static boolean isNested(SpelNode node) {
        return node instanceof Projection || node instanceof Selection;
    }

    private void checkVariable(String name, boolean atRoot) {
        if (name.equals("this") ? atRoot : name.equals("root") || scope.position(name) == null) {
            throw unknown("#" + name, "is not a parameter here; " + scope.parameters() + "; by position, #p0");
        }
    }

    private void checkBean(String reference) {
        String name = reference.substring(reference.lastIndexOf('@') + 1).replace("'", "");
        MethodScope.Beans beans = scope.beans();
        if (beans == null || !beans.has().test(name)) {
            String remedy =
                    beans == null ? "use parameters: there is no Spring context" : "correct its name, or define it";
            throw unknown("@" + name, "is not a bean; " + remedy);
        }
    }

    private void checkWord(String name) {
        if (!WORDS.contains(name)) {
            throw unknown(
                    name,
                    "is none of the words " + String.join(", ", WORDS) + "; for a parameter write #" + name
                            + ", for a text '" + name + "' in quotes");
        }
        if (!name.equals("global") && !scope.isInRequests()) {
            throw scope.noRequest(attribute + " = \"" + text + "\": '" + name + "' is of a web request");
        }
    }

    private IllegalStateException unknown(String name, String what) {
        return scope.error("RL-124", attribute + " = \"" + text + "\": '" + name + "' " + what);
    }
}
