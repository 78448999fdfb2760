package io.limiter.spring.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
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
 * An expression of an annotation: parsed once, and its parameters, beans and words looked up before the first call.
 * Thread-safe.
 */
final class CallExpression {
    /** What the language's root knows: see {@link CallFacts.Words}. */
    private static final List<String> WORDS = List.of("ip", "user", "principal", "global");

    private static final Pattern PART_OF_RULE = Pattern.compile("\\b(?<kind>header|cookie|path):(?<name>[^\\s+,]+)");

    private final MethodSite site;
    private final String attribute;
    private final String text;
    private final CompiledSometimes expression;
    /** Where the parameter stands that is all of the expression; -1 when it is something else. */
    private final int parameter;

    private CallExpression(MethodSite site, String attribute, String text, SpelExpression expression) {
        this.site = site;
        this.attribute = attribute;
        this.text = text;
        this.expression = new CompiledSometimes(expression);
        Integer position = expression.getAST() instanceof VariableReference variable
                ? site.position(variable.toStringAST().substring(1))
                : null;
        this.parameter = position == null ? -1 : position;
    }

    /**
     * The expression of an attribute.
     *
     * @throws IllegalStateException if it does not parse, or names what is not there; the message says what to write
     */
    static CallExpression parse(MethodSite site, String attribute, String text) {
        // OFF: when to compile is decided here.
        SpelExpressionParser parser = new SpelExpressionParser(new SpelParserConfiguration(
                SpelCompilerMode.OFF, site.method().getDeclaringClass().getClassLoader()));
        SpelExpression parsed;
        try {
            parsed = parser.parseRaw(text);
        } catch (ParseException | IllegalStateException | IllegalArgumentException broken) {
            throw Wrong.at(
                    Wrong.NO_EXPRESSION,
                    site.toString(),
                    attribute + " = \"" + text + "\" is no expression (" + broken.getMessage() + "); " + instead(text),
                    broken);
        }
        CallExpression expression = new CallExpression(site, attribute, text, parsed);
        expression.check(parsed.getAST(), true);
        return expression;
    }

    /** What to write. In quotes a part of a rule's key would be one client, and all would share its quota. */
    private static String instead(String text) {
        Matcher part = PART_OF_RULE.matcher(text);
        if (!part.find()) {
            return "write one such as #user";
        }
        String kind = part.group("kind");
        String annotation =
                kind.equals("header") ? "RequestHeader" : kind.equals("cookie") ? "CookieValue" : "PathVariable";
        return "'" + kind + ":' works in limiter.rules only; take the value as a parameter, @" + annotation + "(\""
                + part.group("name") + "\") String it, and write #it";
    }

    /**
     * The words that the parts of a key are, each null where it is something else: of {@code {ip, #account}} the first is
     * {@code ip}.
     */
    List<@Nullable String> words() {
        SpelNode root = expression.root();
        boolean several = isListOfParts();
        List<@Nullable String> words = new ArrayList<>();
        for (int i = 0; i < (several ? root.getChildCount() : 1); i++) {
            words.add(word(several ? root.getChild(i) : root));
        }
        return words;
    }

    /** Whether it is written as a list, whose items are the parts. */
    boolean isListOfParts() {
        return expression.root() instanceof InlineList;
    }

    /** Whether its value may be a whole key or a list of parts; false where the types rule that out. */
    boolean mayBeKeyOrList() {
        return ValueType.mayBeKeyOrList(expression.root(), site);
    }

    private static @Nullable String word(SpelNode node) {
        return node instanceof PropertyOrFieldReference reference ? reference.getName() : null;
    }

    /** What it is for every call, where it names nothing: a number, a text in quotes; else null. */
    @Nullable
    Object constant() {
        return isLiteral(expression.root()) ? value((CallFacts) null) : null;
    }

    private static boolean isLiteral(SpelNode node) {
        if (node instanceof Literal) {
            return true;
        }
        boolean literal = node instanceof Operator || node instanceof OperatorNot;
        for (int i = 0; i < node.getChildCount(); i++) {
            literal &= isLiteral(node.getChild(i));
        }
        return literal;
    }

    /** What it is for this call. */
    @Nullable
    Object value(MethodCall call) {
        if (parameter >= 0) {
            return call.arguments()[parameter];
        }
        return value(call.facts(site));
    }

    private @Nullable Object value(@Nullable CallFacts facts) {
        try {
            return expression.value(facts);
        } catch (RuntimeException failed) {
            for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
                // The language wraps what a word threw; that names the method and the remedy already.
                if (cause instanceof IllegalStateException wrong
                        && String.valueOf(wrong.getMessage()).startsWith(Wrong.NO_KEY)) {
                    throw wrong;
                }
            }
            throw Wrong.at(
                    Wrong.VALUE,
                    site.toString(),
                    attribute + " = \"" + text + "\" failed ("
                            + failed.getClass().getSimpleName()
                            + "); write it so that it has a value for every call, for example #user?.name",
                    failed);
        }
    }

    /** An exception for a value that can't be used. */
    IllegalStateException unusable(String found, String remedy) {
        return unusable(site, attribute, text, found, remedy);
    }

    static IllegalStateException unusable(MethodSite site, String attribute, String text, String found, String remedy) {
        return Wrong.at(Wrong.VALUE, site.toString(), attribute + " = \"" + text + "\" gave " + found + "; " + remedy);
    }

    /** Looks at every name. At the root, names without a sign are words; further in they belong to what stands before. */
    private void check(SpelNode node, boolean atRoot) {
        if (node instanceof TypeReference || node instanceof ConstructorReference) {
            throw forbidden(node, "names a type");
        }
        if (node instanceof Assign || node instanceof OpInc || node instanceof OpDec) {
            throw forbidden(node, "changes something");
        }
        if (node instanceof FunctionReference) {
            throw forbidden(node, "calls a function, and there are none");
        }
        if (node instanceof VariableReference) {
            checkVariable(node.toStringAST().substring(1), atRoot);
        } else if (node instanceof BeanReference) {
            checkBean(node.toStringAST());
        } else if (atRoot && node instanceof PropertyOrFieldReference word) {
            checkWord(word.getName());
        } else if (atRoot && node instanceof MethodReference method) {
            throw unknown(method.getName() + "(...)", "belongs to nothing; call methods of parameters or beans");
        }
        boolean compound = node instanceof CompoundExpression;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            if (compound && i > 0) {
                checkStep(child);
            } else {
                check(child, atRoot && !isNested(node));
            }
        }
    }

    /** A property, a method or an index of what stands before it; its arguments are expressions of their own. */
    private void checkStep(SpelNode step) {
        for (int i = 0; i < step.getChildCount(); i++) {
            check(step.getChild(i), !isNested(step));
        }
    }

    private static boolean isNested(SpelNode node) {
        return node instanceof Projection || node instanceof Selection;
    }

    private void checkVariable(String name, boolean atRoot) {
        if (atRoot && (name.equals("root") || name.equals("this"))) {
            throw unknown(
                    "#" + name, "is a word of the language; for a parameter of that name write its position, #p0");
        }
        boolean known = site.position(name) != null || name.equals("this");
        if (!known) {
            throw unknown("#" + name, "is no parameter; " + site.parameters());
        }
    }

    private void checkBean(String reference) {
        String name = reference.substring(reference.lastIndexOf('@') + 1).replace("'", "");
        if (site.beans() == Beans.NONE) {
            throw unknown("@" + name, "is a bean, and there is no Spring context; use parameters");
        }
        if (!site.beans().has(name)) {
            throw unknown("@" + name, "is no bean of this context; correct its name, or define it");
        }
    }

    private void checkWord(String name) {
        if (!WORDS.contains(name)) {
            String remedy = site.parameterNames().contains(name)
                    ? "is no word; for the parameter write #" + name
                    : "is none of the words " + String.join(", ", WORDS) + "; for a text write '" + name
                            + "' in quotes, for a parameter #" + name;
            throw unknown(name, remedy);
        }
        if (!name.equals("global") && !site.isInRequests()) {
            throw Wrong.at(
                    Wrong.NO_KEY,
                    site.toString(),
                    attribute + " = \"" + text + "\": '" + name + "' is of a web request, and " + site.whyNoRequest()
                            + "; " + MethodKey.HOW_TO_HAVE_REQUESTS);
        }
    }

    private IllegalStateException forbidden(SpelNode node, String what) {
        return unknown(
                node.toStringAST(),
                what + ", which is not allowed here; put it into a bean, and call that: @"
                        + site.method().getDeclaringClass().getSimpleName().toLowerCase(Locale.ROOT) + "Keys.of(#p0)");
    }

    private IllegalStateException unknown(String name, String what) {
        return Wrong.at(Wrong.UNKNOWN_NAME, site.toString(), attribute + " = \"" + text + "\": '" + name + "' " + what);
    }
}
