package io.limiter.http;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;

@AnalyzeClasses(packages = "io.limiter.http", importOptions = DoNotIncludeTests.class)
class WallsTest {
    private static final String ROOT = "io.limiter.http";
    private static final String RULES = ROOT + ".internal";

    @ArchTest
    static final ArchTests OF_ALL_DOORS = ArchTests.in(DoorWalls.class);

    @ArchTest
    static final ArchRule WAYS_BETWEEN_PACKAGES = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("API")
            .definedBy(ROOT)
            .layer("rules")
            .definedBy(RULES)
            .layer("match")
            .definedBy(RULES + ".match")
            .layer("address")
            .definedBy(RULES + ".address")
            .layer("answer")
            .definedBy(RULES + ".answer")
            .layer("request")
            .definedBy(RULES + ".request")
            .ensureAllClassesAreContainedInArchitectureIgnoring("java..")
            .whereLayer("rules")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("match")
            .mayOnlyBeAccessedByLayers("rules")
            .whereLayer("address")
            .mayOnlyBeAccessedByLayers("rules")
            .whereLayer("answer")
            .mayOnlyBeAccessedByLayers("API", "rules")
            .whereLayer("request")
            .mayOnlyBeAccessedByLayers("rules", "match", "address")
            .because("a request goes one way: rules match it, make keys of addresses, and charge it");

    @ArchTest
    static final ArchRule NO_SERVER = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("io.limiter..", "java..", "org.slf4j..", "org.jspecify..")
            .because("a door of any server uses this module, and none of them brings another server's API");

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        DoorWalls.assertPublic(all, "io.limiter.http", "ClientAddress", "DenialAnswer", "RequestSample");
    }
}
