package io.limiter.servlet;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.limiter.servlet.address.ClientAddress;
import io.limiter.servlet.address.ClientAddressResolver;
import io.limiter.servlet.key.RequestKey;
import io.limiter.servlet.key.RuleKeyForm;
import io.limiter.servlet.match.MatchableRequest;
import io.limiter.servlet.match.RequestMatcher;
import io.limiter.servlet.match.RequestPaths;
import io.limiter.servlet.match.WebAppChecks;
import io.limiter.servlet.rejection.DenialAnswer;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.servlet.rejection.Rejections;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.util.Set;
import java.util.stream.Stream;

@AnalyzeClasses(packages = "io.limiter.servlet", importOptions = DoNotIncludeTests.class)
class WallsTest {
    private static final String ROOT = "io.limiter.servlet";
    private static final String ADDRESS = ROOT + ".address";
    private static final String MATCH = ROOT + ".match";
    private static final String KEY = ROOT + ".key";
    private static final String REJECTION = ROOT + ".rejection";

    /** What users name. */
    private static final Set<Class<?>> FOR_USERS = Set.of(
            RateLimitFilter.class,
            RequestSample.class,
            Explanation.class,
            Rejections.class,
            Rejection.class,
            RejectionHandler.class,
            ClientAddressResolver.class,
            ClientAddress.class,
            WebAppChecks.class,
            RuleKeyForm.class,
            DenialAnswer.class);

    /** What the packages of this module use of each other. */
    private static final Set<Class<?>> FOR_OTHER_PACKAGES =
            Set.of(MatchableRequest.class, RequestMatcher.class, RequestPaths.class, RequestKey.class);

    @ArchTest
    static final ArchRule WAYS_BETWEEN_PACKAGES = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .layer("filter")
            .definedBy(ROOT)
            .layer("key")
            .definedBy(KEY)
            .layer("match")
            .definedBy(MATCH)
            .layer("address")
            .definedBy(ADDRESS)
            .layer("rejection")
            .definedBy(REJECTION)
            .ensureAllClassesAreContainedInArchitectureIgnoring("java..")
            .whereLayer("filter")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("rejection")
            .mayOnlyBeAccessedByLayers("filter")
            .whereLayer("key")
            .mayOnlyBeAccessedByLayers("filter")
            .whereLayer("match")
            .mayOnlyBeAccessedByLayers("filter", "key")
            .whereLayer("address")
            .mayOnlyBeAccessedByLayers("filter", "key")
            .because("a request goes one way: the filter matches rules, makes keys of addresses, decides, and answers");

    @ArchTest
    static final ArchRule NO_CYCLES_OF_CLASSES = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    return SliceIdentifier.of(type.getName().replaceFirst("\\$.*", ""));
                }

                @Override
                public String getDescription() {
                    return "classes";
                }
            })
            .should()
            .beFreeOfCycles()
            .because("a reader begins somewhere");

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
            .belongToAnyOf(DenialAnswer.class, RuleKeyForm.class)
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
            .and(describe(
                    "are not named here",
                    type -> Stream.of(FOR_USERS, FOR_OTHER_PACKAGES)
                            .flatMap(Set::stream)
                            .noneMatch(type::isEquivalentTo)))
            .should()
            .notBePublic()
            .because(
                    "what is public is kept for ever; a user names the filter, what answers in its place, or an address;"
                            + " limiter-spring names the form of keys, and the answer to a denial in WebFlux");

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
            .callMethodWhere(target(owner(assignableTo(InetAddress.class))).and(target(not(name("getHostAddress")))))
            .because("InetAddress asks DNS when text is no address, and text comes from the network here;"
                    + " the text of the address of a connection asks nobody");
}
