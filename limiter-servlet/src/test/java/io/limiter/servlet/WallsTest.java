package io.limiter.servlet;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.limiter.kit.DoorWalls;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.servlet.rejection.Rejections;
import java.util.Set;

@AnalyzeClasses(packages = "io.limiter.servlet", importOptions = DoNotIncludeTests.class)
class WallsTest {
    /** What users name. */
    private static final Set<Class<?>> FOR_USERS = Set.of(
            RateLimitFilter.class,
            Rejections.class,
            Rejection.class,
            RejectionHandler.class,
            ClientAddressResolver.class);

    @ArchTest
    static final ArchTests OF_ALL_DOORS = ArchTests.in(DoorWalls.class);

    @ArchTest
    static final ArchRule NO_CYCLES_OF_PACKAGES = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return SliceIdentifier.of(type.getPackageName());
                }

                @Override
                public String getDescription() {
                    return "packages";
                }
            })
            .should()
            .beFreeOfCycles()
            .because("a request goes one way: the filter adapts it, asks the rules, and answers");

    @ArchTest
    static final ArchRule FEW_LIBRARIES = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("io.limiter..", "jakarta.servlet..", "java..", "org.slf4j..", "org.jspecify..")
            .because("a filter lives in other people's web applications and must not bring them libraries");

    @ArchTest
    static final ArchRule PUBLIC_TYPES = classes()
            .that()
            .doNotHaveSimpleName("package-info")
            .and()
            .areNotMemberClasses()
            .and(describe(
                    "are not named here",
                    type -> !type.getPackageName().contains(".internal")
                            && FOR_USERS.stream().noneMatch(type::isEquivalentTo)))
            .should()
            .notBePublic()
            .because(
                    "what is public is kept for ever; a user names the filter, what answers in its place, or an address");
}
