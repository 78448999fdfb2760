package io.limiter.control;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The walls of this module. */
@AnalyzeClasses(packages = "io.limiter.control", importOptions = ImportOption.DoNotIncludeTests.class)
class WallsTest {
    @ArchTest
    static final ArchRule noClassKnowsAClientOfRedis = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.redisson..", "io.lettuce..", "io.netty..")
            .because("it works by whichever client the limiter has");

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        assertEquals(
                new TreeSet<>(
                        Set.of("io.limiter.control.Command", "io.limiter.control.Control", "io.limiter.control.Entry")),
                all.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> type.getEnclosingClass().isEmpty())
                        .map(JavaClass::getName)
                        .collect(Collectors.toCollection(TreeSet::new)),
                "a public type is a promise: add it here on purpose, or make it package-private");
    }
}
