package io.limiter.spring;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.kit.DoorWalls;

/** The walls of this module. */
@AnalyzeClasses(packages = "io.limiter.spring", importOptions = DoNotIncludeTests.class)
class WallsTest {
    private static final String INTERNAL = "io.limiter.spring.internal";

    /** The classes of the inner room for beans and their proxies. */
    private static final String OF_BEANS =
            "io.limiter.spring.internal." + "(LimitHints|RateLimitInterceptor|RateLimitedPostProcessor)(\\$.*)?";

    @ArchTest
    static final ArchRule NO_CYCLES = DoorWalls.NO_CYCLES_OF_PACKAGES;

    private static final DescribedPredicate<JavaClass> OF_METHODS =
            resideInAnyPackage(INTERNAL, "io.limiter.spring.aop").and(not(nameMatching(OF_BEANS)));

    @ArchTest
    static final ArchRule WEAVING_NEEDS_NO_PROXIES = noClasses()
            .that(OF_METHODS)
            .should()
            .dependOnClassesThat(nameMatching(OF_BEANS))
            .because("a limited method does not know how it was found");

    @ArchTest
    static final ArchRule EXPRESSIONS_DECIDE_NOTHING = noClasses()
            .that(nameMatching("io.limiter.spring.internal."
                    + "(CallExpression|CallVariables|DirectValue|MethodCall|MethodKey|MethodScope)(\\$.*)?"))
            .should()
            .dependOnClassesThat(belongToAnyOf(Limiter.class, RateLimiter.class, Policy.class))
            .because("whose quota a call uses is known without any limiter");

    private static ArchRule nothing(DescribedPredicate<JavaClass> of, String because, String... knows) {
        return noClasses()
                .that(of)
                .should()
                .dependOnClassesThat(resideInAnyPackage(knows))
                .because(because);
    }

    @ArchTest
    static final ArchRule THE_ANNOTATION_KNOWS_NOBODY = nothing(
            resideInAPackage("io.limiter.spring"),
            "a class with an annotated method needs nothing else to compile",
            "io.limiter.spring.*..",
            "org.springframework..",
            "io.limiter.servlet..");

    @ArchTest
    static final ArchRule NO_SERVLET_WHERE_METHODS_ARE_LIMITED = nothing(
            resideInAnyPackage(INTERNAL, "io.limiter.spring.aop"),
            "methods are limited in programs without any web",
            "jakarta..",
            "io.limiter.servlet..",
            "org.springframework.web..",
            "io.limiter.spring.web",
            "io.limiter.spring.internal.web");

    @ArchTest
    static final ArchRule WOVEN_CODE_NEEDS_NO_CONTEXT = nothing(
            OF_METHODS,
            "a woven program has spring-core and spring-expression, and no more of Spring",
            "org.springframework.beans..",
            "org.springframework.context..",
            "org.springframework.aop..",
            "org.aopalliance..");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_AND_WEBFLUX_KNOW_REACTOR = nothing(
            not(simpleName("ReactorInvoker").or(resideInAPackage("io.limiter.spring.webflux.."))),
            "Reactor is optional",
            "reactor..",
            "org.reactivestreams..");

    @ArchTest
    static final ArchRule NO_SERVLET_IN_WEBFLUX = nothing(
            resideInAPackage("io.limiter.spring.webflux.."),
            "an application with WebFlux has no servlet API",
            "jakarta..",
            "io.limiter.servlet..",
            "io.limiter.spring.web");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_KNOWS_ASPECTJ =
            nothing(not(in("RateLimitAspect")), "a Spring context needs no AspectJ", "org.aspectj..");

    @ArchTest
    static final ArchRule BOOT_IS_OUTERMOST = nothing(
            not(resideInAPackage("io.limiter.spring.boot..")),
            "an application without Spring Boot has all of the rest",
            "io.limiter.spring.boot..",
            "org.springframework.boot..");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_KNOWS_EACH_CLIENT = nothing(
            not(nameMatching(".*\\.(RedissonBeans|LettuceBeans)")),
            "a client of Redis is optional, and Spring looks at the methods of each bean",
            "org.redisson..",
            "io.lettuce..");

    @ArchTest
    static final ArchRule ONLY_HEALTH_KNOWS_ITS_TWO_HOMES = nothing(
            not(in("LimiterActuatorAutoConfiguration")),
            "Spring Boot 3 has one of them and Spring Boot 4 the other",
            "org.springframework.boot.health..",
            "org.springframework.boot.actuate.health..",
            "org.springframework.boot.actuate.autoconfigure.health..");

    @ArchTest
    static final ArchRule NO_LIBRARY_FOR_TESTS =
            nothing(alwaysTrue(), "an application that runs has no libraries for tests", "org.springframework.test..");

    @ArchTest
    static final ArchRule ONLY_ACTUATE_KNOWS_THE_ACTUATOR = nothing(
            not(resideInAPackage("io.limiter.spring.boot.actuate")),
            "actuator and meters are optional",
            "io.limiter.spring.boot.actuate",
            "org.springframework.boot.actuate..",
            "io.micrometer..");

    /** A client of the application's is its bean, which core does not know. */
    @ArchTest
    static final ArchRule NO_BACKEND = nothing(
            not(nameMatching(".*\\.(RedissonBeans|LettuceBeans|LimiterAutoConfiguration)")),
            "a method asks the one question; where the state is, the configuration decides",
            "io.limiter.inprocess..",
            "io.limiter.redis..",
            "org.redisson..");

    @ArchTest
    static final ArchRule ONLY_TIME_SOURCES_READ_THE_CLOCK = noClasses()
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .because("time has one source");

    @ArchTest
    static final ArchRule NAMES_SAY_WHAT_A_THING_IS = classes()
            .should()
            .haveNameNotMatching(".*(Manager|Helper|Util|Utils|Impl|Context|Info)")
            .because("such a name fits everything, so it has no meaning");

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        DoorWalls.assertPublic(
                all,
                "io.limiter.spring",
                "Caller",
                "CallerSource",
                "RateLimitExceededException",
                "RateLimited",
                "aop.RateLimitAspect",
                "aop.RateLimiting",
                "boot.LimiterAutoConfiguration",
                "config.EnableRateLimiting",
                "web.RateLimitExceededAdvice",
                "webflux.RateLimitExceededWebHandler",
                "webflux.ReactiveRateLimitExceededAdvice");
    }

    /** A class and those inside of it. */
    private static DescribedPredicate<JavaClass> in(String outer) {
        return nameMatching(".*\\." + outer + "(\\$.*)?").forSubtype();
    }
}
