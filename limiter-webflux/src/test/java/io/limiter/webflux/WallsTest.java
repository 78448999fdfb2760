package io.limiter.webflux;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;

@AnalyzeClasses(packages = "io.limiter.webflux", importOptions = DoNotIncludeTests.class)
class WallsTest {
    @ArchTest
    static final ArchTests OF_ALL_DOORS = ArchTests.in(DoorWalls.class);

    @ArchTest
    static final ArchRule NO_SERVLET = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("jakarta..", "io.limiter.servlet..", "io.limiter.spring.web..")
            .because("an application with WebFlux has no servlet API");

    @ArchTest
    static final ArchRule BOOT_IS_OUTERMOST = noClasses()
            .that()
            .haveSimpleNameNotStartingWith("LimiterWebFluxAutoConfiguration")
            .and()
            .haveSimpleNameNotStartingWith("LimiterGatewayAutoConfiguration")
            .and()
            .haveSimpleNameNotStartingWith("Filters")
            .should()
            .dependOnClassesThat(JavaClass.Predicates.resideInAnyPackage(
                            "io.limiter.spring..", "org.springframework.boot..", "org.springframework.beans..")
                    .and(not(JavaClass.Predicates.resideInAPackage("io.limiter.spring.webflux.internal"))))
            .because("an application without Spring Boot has all of the rest");

    @ArchTest
    static final ArchRule NOTHING_BLOCKS = DoorWalls.NOTHING_BLOCKS;

    @ArchTest
    static final ArchRule NO_PUBLISHER_IS_WAITED_FOR = noClasses()
            .should()
            .callMethod(reactor.core.publisher.Mono.class, "block")
            .because("a thread of an event loop has many requests");

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        DoorWalls.assertPublic(
                all,
                "io.limiter.webflux",
                "RateLimitWebFilter",
                "WebRejection",
                "WebRejectionHandler",
                "gateway.GatewayRateLimiter",
                "gateway.LimiterGatewayFilterFactory");
    }
}
