package io.limiter.grpc;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.kit.DoorWalls;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

@AnalyzeClasses(packages = "io.limiter.grpc", importOptions = DoNotIncludeTests.class)
class WallsTest {
    /** What users name. */
    private static final Set<Class<?>> FOR_USERS = Set.of(
            RateLimitServerInterceptor.class,
            GrpcCall.class,
            GrpcRejectionHandler.class,
            LimiterGrpcAutoConfiguration.class);

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
    static final ArchRule NOTHING_BLOCKS = noClasses()
            .should()
            .callMethod(CompletableFuture.class, "join")
            .orShould()
            .callMethod(CompletableFuture.class, "get")
            .because("a thread of a transport has many calls");

    @ArchTest
    static final ArchRule PUBLIC_TYPES = classes()
            .that()
            .doNotHaveSimpleName("package-info")
            .and()
            .areNotMemberClasses()
            .and(describe("are not named here", type -> FOR_USERS.stream().noneMatch(type::isEquivalentTo)))
            .should()
            .notBePublic()
            .because("what is public is kept for ever");
}
