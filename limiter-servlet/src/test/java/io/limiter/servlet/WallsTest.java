package io.limiter.servlet;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import java.io.InputStreamReader;
import java.net.InetAddress;

@AnalyzeClasses(packages = "io.limiter.servlet", importOptions = DoNotIncludeTests.class)
class WallsTest {
    @ArchTest
    static final ArchRule TWO_PACKAGES = classes()
            .should()
            .resideInAnyPackage("io.limiter.servlet", "io.limiter.servlet.address")
            .because("a package is what a user imports: the filter, or the client's address alone");

    @ArchTest
    static final ArchRule THE_ADDRESS_NEEDS_NO_FILTER = noClasses()
            .that()
            .resideInAPackage("io.limiter.servlet.address")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.limiter.servlet")
            .because("who limits in some other way finds clients as the filter does");

    @ArchTest
    static final ArchRule NO_BACKEND = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.limiter.inprocess..", "io.limiter.redis..", "org.redisson..")
            .because("the filter asks the one question; where the state is, the configuration decides");

    @ArchTest
    static final ArchRule FEW_LIBRARIES = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("io.limiter..", "jakarta.servlet..", "java..", "org.slf4j..", "org.jspecify..")
            .because("a filter lives in other people's web applications and must not bring them libraries");

    @ArchTest
    static final ArchRule ANSWERS_WITHOUT_SERVLETS = noClasses()
            .that()
            .haveFullyQualifiedName(DenialAnswer.class.getName())
            .should()
            .transitivelyDependOnClassesThat()
            .resideInAPackage("jakarta..")
            .because("an application with WebFlux has no servlet API, and gets the same answers");

    @ArchTest
    static final ArchRule PUBLIC_TYPES = classes()
            .that()
            .doNotHaveSimpleName("package-info")
            .and()
            .areNotMemberClasses()
            .and()
            .doNotHaveFullyQualifiedName(RateLimitFilter.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(Rejections.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(ClientAddressResolver.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(ClientAddress.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(RejectionHandler.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(Rejection.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(RuleKeyForm.class.getName())
            .and()
            .doNotHaveFullyQualifiedName(DenialAnswer.class.getName())
            .should()
            .notBePublic()
            .because(
                    "what is public is kept for ever; a user names the filter, what answers in its place, or an address; limiter-spring names the form of keys, and the answer to a denial in WebFlux");

    @ArchTest
    static final ArchRule NO_DEFAULT_CHARSET = noClasses()
            .should()
            .callMethod(String.class, "getBytes")
            .orShould()
            .callConstructor(String.class, byte[].class)
            .orShould()
            .callConstructor(InputStreamReader.class, java.io.InputStream.class)
            .because("bytes must not depend on the machine's locale");

    @ArchTest
    static final ArchRule NO_NAME_LOOKUP = noClasses()
            .should()
            .dependOnClassesThat()
            .areAssignableTo(InetAddress.class)
            .because("InetAddress asks DNS when text is no address, and text comes from the network here");
}
