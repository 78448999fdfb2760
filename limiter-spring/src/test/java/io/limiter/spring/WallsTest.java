package io.limiter.spring;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

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

    @ArchTest
    static final ArchRule WEAVING_NEEDS_NO_PROXIES = noClasses()
            .that(resideInAnyPackage(INTERNAL, "io.limiter.spring.aop").and(not(nameMatching(OF_BEANS))))
            .should()
            .dependOnClassesThat(nameMatching(OF_BEANS))
            .because("a limited method does not know how it was found");

    @ArchTest
    static final ArchRule THE_ANNOTATION_KNOWS_NOBODY = noClasses()
            .that()
            .resideInAPackage("io.limiter.spring")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.spring.*..", "org.springframework..", "io.limiter.servlet..")
            .because("who has the annotation on a method needs nothing else to compile");

    @ArchTest
    static final ArchRule EXPRESSIONS_DECIDE_NOTHING = noClasses()
            .that()
            .haveNameMatching("io.limiter.spring.internal."
                    + "(CallExpression|CallVariables|DirectValue|MethodCall|MethodKey|MethodScope)(\\$.*)?")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Limiter.class, RateLimiter.class, Policy.class)
            .because("whose quota a call uses is known without any limiter");

    @ArchTest
    static final ArchRule NO_SERVLET_WHERE_METHODS_ARE_LIMITED = noClasses()
            .that()
            .resideInAnyPackage(INTERNAL, "io.limiter.spring.aop")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "jakarta..",
                    "io.limiter.servlet..",
                    "org.springframework.web..",
                    "io.limiter.spring.web",
                    "io.limiter.spring.internal.web")
            .because("methods are limited in programs without any web");

    @ArchTest
    static final ArchRule WOVEN_CODE_NEEDS_NO_CONTEXT = noClasses()
            .that(resideInAnyPackage(INTERNAL, "io.limiter.spring.aop").and(not(nameMatching(OF_BEANS))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework.beans..",
                    "org.springframework.context..",
                    "org.springframework.aop..",
                    "org.aopalliance..")
            .because("a woven program has spring-core and spring-expression, and no more of Spring");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_AND_WEBFLUX_KNOW_REACTOR = noClasses()
            .that(not(simpleName("ReactorInvoker")).and(not(resideInAPackage("io.limiter.spring.webflux.."))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("reactor..", "org.reactivestreams..")
            .because("Reactor is optional");

    @ArchTest
    static final ArchRule NO_SERVLET_IN_WEBFLUX = noClasses()
            .that()
            .resideInAPackage("io.limiter.spring.webflux..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("jakarta..", "io.limiter.servlet..", "io.limiter.spring.web"))
            .because("an application with WebFlux has no servlet API");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_KNOWS_ASPECTJ = noClasses()
            .that(not(simpleName("RateLimitAspect")).and(not(resideInInner("RateLimitAspect"))))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.aspectj..")
            .because("a Spring context needs no AspectJ");

    @ArchTest
    static final ArchRule BOOT_IS_OUTERMOST = noClasses()
            .that()
            .resideOutsideOfPackage("io.limiter.spring.boot..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.spring.boot..", "org.springframework.boot..")
            .because("an application without Spring Boot has all of the rest");

    @ArchTest
    static final ArchRule ONLY_ONE_CLASS_KNOWS_REDISSON = noClasses()
            .that(not(simpleName("RedissonBeans")))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.redisson..")
            .because("Redisson is optional, and Spring looks at the methods of each bean");

    @ArchTest
    static final ArchRule ONLY_HEALTH_KNOWS_ITS_TWO_HOMES = noClasses()
            .that(not(simpleName("LimiterActuatorAutoConfiguration"))
                    .and(not(resideInInner("boot.actuate.LimiterActuatorAutoConfiguration"))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework.boot.health..",
                    "org.springframework.boot.actuate.health..",
                    "org.springframework.boot.actuate.autoconfigure.health..")
            .because("Spring Boot 3 has one of them and Spring Boot 4 the other");

    @ArchTest
    static final ArchRule NO_LIBRARY_FOR_TESTS = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.springframework.test..")
            .because("an application that runs has no libraries for tests");

    @ArchTest
    static final ArchRule ONLY_ACTUATE_KNOWS_THE_ACTUATOR = noClasses()
            .that()
            .resideOutsideOfPackage("io.limiter.spring.boot.actuate")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.limiter.spring.boot.actuate", "org.springframework.boot.actuate..", "io.micrometer..")
            .because("actuator and meters are optional");

    @ArchTest
    static final ArchRule NO_BACKEND = noClasses()
            .that(not(simpleName("RedissonBeans"))
                    .and(not(simpleName("LettuceBeans")))
                    .and(not(simpleName("LimiterAutoConfiguration"))))
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.inprocess..", "io.limiter.redis..", "org.redisson..")
            .because("a method asks the one question; where the state is, the configuration decides; a client of the"
                    + " application's is its bean, which core does not know");

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

    private static com.tngtech.archunit.base.DescribedPredicate<JavaClass> resideInInner(String outer) {
        return com.tngtech.archunit.base.DescribedPredicate.describe(
                "are inside " + outer, type -> type.getName().contains("." + outer + "$"));
    }
}
