package io.limiter.control;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;

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
        DoorWalls.assertPublic(all, "io.limiter.control", "Command", "Control", "Entry");
    }
}
