package io.limiter.grpc;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;

@AnalyzeClasses(packages = "io.limiter.grpc", importOptions = DoNotIncludeTests.class)
class WallsTest {
    @ArchTest
    static final ArchTests OF_ALL_DOORS = ArchTests.in(DoorWalls.class);

    @ArchTest
    static final ArchRule SPRING_IS_OUTERMOST = noClasses()
            .that()
            .haveSimpleNameNotStartingWith("LimiterGrpcAutoConfiguration")
            .and()
            .haveSimpleNameNotStartingWith("Interceptors")
            .and()
            .haveSimpleNameNotStartingWith("SecurityUsers")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.spring..", "org.springframework..")
            .because("a program without Spring has all of the rest");

    @ArchTest
    static final ArchRule ONLY_THE_API_OF_GRPC = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.grpc.stub..", "io.grpc.internal..", "io.grpc.netty..", "com.google.protobuf..")
            .because("an application has these in the versions that it likes, or not at all");

    @ArchTest
    static final ArchRule NOTHING_BLOCKS = DoorWalls.NOTHING_BLOCKS;

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        DoorWalls.assertPublic(
                all, "io.limiter.grpc", "GrpcCall", "GrpcRejectionHandler", "RateLimitServerInterceptor");
    }
}
