package io.limiter.kit;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What holds in each module that limits requests, for the tests of their walls. */
public final class DoorWalls {
    private DoorWalls() {}

    @ArchTest
    static final ArchRule NO_CYCLES_OF_CLASSES = slices().assignedFrom(
                    by("classes", type -> type.getName().replaceFirst("\\$.*", "")))
            .should()
            .beFreeOfCycles()
            .because("a reader begins somewhere");

    @ArchTest
    public static final ArchRule NO_CYCLES_OF_PACKAGES = slices().assignedFrom(
                    by("packages", JavaClass::getPackageName))
            .should()
            .beFreeOfCycles()
            .because("packages in a cycle can't be understood separately");

    private static SliceAssignment by(String what, Function<JavaClass, String> name) {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return SliceIdentifier.of(name.apply(type));
            }

            @Override
            public String getDescription() {
                return what;
            }
        };
    }

    @ArchTest
    static final ArchRule NO_BACKEND = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.inprocess..", "io.limiter.redis..", "org.redisson..")
            .because("rules and doors ask the one question; where the state is, the configuration decides");

    @ArchTest
    static final ArchRule NO_DEFAULT_CHARSET = noClasses()
            .should()
            .callMethod(String.class, "getBytes")
            .orShould()
            .callConstructor(String.class, byte[].class)
            .orShould()
            .callConstructor(InputStreamReader.class, java.io.InputStream.class)
            .because("bytes must not depend on the machine's locale");

    @ArchTest
    static final ArchRule NO_NAME_LOOKUP = noClasses()
            .should()
            .callMethodWhere(target(owner(assignableTo(InetAddress.class))).and(target(not(name("getHostAddress")))))
            .because("InetAddress asks DNS when text is no address, and text comes from the network here;"
                    + " the text of the address of a connection asks nobody");

    /** No thread of a transport waits: it has many calls. */
    public static final ArchRule NOTHING_BLOCKS = noClasses()
            .should()
            .callMethod(CompletableFuture.class, "join")
            .orShould()
            .callMethod(CompletableFuture.class, "get")
            .because("a thread of a transport has many calls");

    /** Fails unless just these types of this package and of those below it are public; what is internal does not count. */
    public static void assertPublic(JavaClasses all, String root, String... names) {
        Set<String> open = all.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> type.getEnclosingClass().isEmpty())
                .filter(type -> !type.getPackageName().contains(".internal"))
                .map(type -> type.getName().substring(root.length() + 1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                new TreeSet<>(Set.of(names)),
                open,
                "a public type is a promise: add it here on purpose, or make it package-private");
    }
}
