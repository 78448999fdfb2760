package io.limiter.servlet;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;

@AnalyzeClasses(packages = "io.limiter.servlet", importOptions = DoNotIncludeTests.class)
class WallsTest {
    @ArchTest
    static final ArchTests OF_ALL_DOORS = ArchTests.in(DoorWalls.class);

    @ArchTest
    static final ArchRule FEW_LIBRARIES = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("io.limiter..", "jakarta.servlet..", "java..", "org.slf4j..", "org.jspecify..")
            .because("a filter lives in other people's web applications and must not bring them libraries");

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        DoorWalls.assertPublic(
                all,
                "io.limiter.servlet",
                "RateLimitFilter",
                "address.ClientAddressResolver",
                "rejection.Rejection",
                "rejection.RejectionHandler",
                "rejection.Rejections");
    }
}
