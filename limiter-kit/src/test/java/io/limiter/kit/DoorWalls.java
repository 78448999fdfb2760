package io.limiter.kit;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.InputStreamReader;
import java.net.InetAddress;

/** What holds in each module that limits requests, for the tests of their walls. */
public final class DoorWalls {
    private DoorWalls() {}

    @ArchTest
    static final ArchRule NO_CYCLES_OF_CLASSES = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return SliceIdentifier.of(type.getName().replaceFirst("\\$.*", ""));
                }

                @Override
                public String getDescription() {
                    return "classes";
                }
            })
            .should()
            .beFreeOfCycles()
            .because("a reader begins somewhere");

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
}
