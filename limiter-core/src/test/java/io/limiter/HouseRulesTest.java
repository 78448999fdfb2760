package io.limiter;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The walls of this module. */
@AnalyzeClasses(packages = "io.limiter", importOptions = ImportOption.DoNotIncludeTests.class)
class HouseRulesTest {
    private static final int MOST_LINES = 600;
    private static final int MOST_LINES_OF_A_METHOD = 60;
    private static final int MOST_PARAMETERS = 7;
    /** Its indentation, its name, its parameters. */
    private static final Pattern METHOD =
            Pattern.compile("(?m)^( {4,12})(?! |return|throw|new|else)(?:[@<\\w][^\n=;{}()]*?)?"
                    + "(?<!record )\\b(\\w+)\\(([^(){};]*+(?:\\([^(){};]*+\\)[^(){};]*+)*+)\\)[^(){};=]*\\{$");
    /** Its eight numbers are set in one step, without an object in between: it is made for each limit of each call. */
    private static final String WITH_MORE_PARAMETERS = "LimitOutcome.java";

    /** Each package, the root too, which a pattern such as {@code io.limiter.(**)} leaves out. */
    private static final SliceAssignment BY_PACKAGE = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return SliceIdentifier.of(type.getPackageName());
        }

        @Override
        public String getDescription() {
            return "packages";
        }
    };

    @ArchTest
    static final ArchRule noCycles = slices().assignedFrom(BY_PACKAGE)
            .should()
            .beFreeOfCycles()
            .because("packages in a cycle can't be understood separately");

    @ArchTest
    static final ArchRule theWordsKnowNobody = wall(
            resideInAPackage("io.limiter"),
            resideInAnyPackage("io.limiter.*..", "org.redisson..", "io.lettuce..", "io.netty..")
                    .and(resideOutsideOfPackage("io.limiter.internal")),
            "every package uses the main types, so they must not depend on the packages");

    @ArchTest
    static final ArchRule whatAllUseUsesNobody = wall(
            resideInAPackage("io.limiter.internal"),
            resideInAPackage("io.limiter..").and(resideOutsideOfPackage("io.limiter.internal")),
            "the main types use it");

    @ArchTest
    static final ArchRule nobodyNeedsTheApplication = wall(
            resideOutsideOfPackage("io.limiter.application"),
            resideInAPackage("io.limiter.application"),
            "it puts the packages together, so none of them can need it");

    @ArchTest
    static final ArchRule rulesConfigAndBackendsKnowOnlyTheWords = wall(
            resideInAnyPackage(
                    "io.limiter.rule", "io.limiter.internal.rule", "io.limiter.inprocess", "io.limiter.redis"),
            resideInAnyPackage("io.limiter.config", "io.limiter.internal.config"),
            "backends and rules work without any configuration text");

    @ArchTest
    static final ArchRule configDecidesNothing = wall(
            resideInAnyPackage("io.limiter.config", "io.limiter.internal.config"),
            resideInAnyPackage("io.limiter.inprocess", "io.limiter.redis", "io.limiter.rule"),
            "text becomes values; what is made of them is decided elsewhere");

    @ArchTest
    static final ArchRule addressesKnowNobodyAndAskNobody = wall(
            resideInAPackage("io.limiter.address"),
            resideInAPackage("io.limiter..")
                    .and(resideOutsideOfPackage("io.limiter.address"))
                    .or(assignableTo(InetAddress.class)),
            "they are values; InetAddress asks DNS when text is no address, and text comes from the network");

    @ArchTest
    static final ArchRule theBackendsNeverMeet = wall(
            resideInAPackage("io.limiter.inprocess"),
            resideInAnyPackage("io.limiter.redis", "io.limiter.rule"),
            "their meaning is bound by the contract, not by shared code");

    @ArchTest
    static final ArchRule redisDoesNotMeetInProcess = wall(
            resideInAPackage("io.limiter.redis"),
            resideInAnyPackage("io.limiter.inprocess", "io.limiter.rule"),
            "their meaning is bound by the contract, not by shared code");

    @ArchTest
    static final ArchRule onlyTheTransportsKnowTheClients = wall(
            not(nameMatching("io\\.limiter\\.redis\\.((Redisson|Lettuce).*|NettyThreads|RedisBackend.*)"))
                    .forSubtype(),
            resideInAnyPackage("org.redisson..", "io.lettuce..", "io.netty.."),
            "both clients are optional, and what is above the transports does not know which of them is there");

    /** No class of the first kind depends on one of the second. */
    private static ArchRule wall(
            DescribedPredicate<JavaClass> inside, DescribedPredicate<JavaClass> outside, String because) {
        return noClasses().that(inside).should().dependOnClassesThat(outside).because(because);
    }

    @ArchTest
    static final ArchRule onlyTimeSourcesReadTheClock = noClasses()
            .that()
            .haveNameNotMatching("io\\.limiter\\.TimeSource(\\$.*)?")
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .because("time is an argument, so that a test can set it");

    /** Instances on one Redis run with different default charsets: a key must be the same bytes in each. */
    @ArchTest
    static final ArchRule noDefaultCharset = noClasses()
            .should()
            .callMethod(String.class, "getBytes")
            .orShould()
            .callConstructor(String.class, byte[].class)
            .orShould()
            .callConstructor(InputStreamReader.class, InputStream.class)
            .because("bytes must not depend on the machine's locale");

    @ArchTest
    static final ArchRule namesSayWhatAThingIs = classes()
            .should()
            .haveNameNotMatching(".*(Manager|Helper|Util|Utils|Impl|Context|Info)")
            .because("such a name fits everything, so it has no meaning");

    @ArchTest
    static void filesAreShort(JavaClasses all) throws IOException {
        int found = 0;
        // Tests of other modules make and delete files beside these folders.
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), "limiter-*")) {
            for (Path module : modules) {
                found += filesAreShort(module.resolve("src/main/java"));
            }
        }
        assertTrue(found > 100, "found " + found + " files");
    }

    /** How many there are. */
    private static int filesAreShort(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> main =
                    files.filter(file -> file.toString().endsWith(".java")).toList();
            for (Path file : main) {
                assertTrue(Files.readAllLines(file).size() <= MOST_LINES, () -> file + " has too many lines; split it");
                methodsAreShort(file, Files.readString(file));
            }
            return main.size();
        }
    }

    /** As they are formatted: each ends with a brace below its beginning. */
    private static void methodsAreShort(Path file, String text) {
        METHOD.matcher(text).results().forEach(method -> {
            String body = text.substring(method.end(), text.indexOf("\n" + method.group(1) + "}", method.end()));
            long parameters = Stream.of(
                            method.group(3).replaceAll("<[^()]*?>+", "").split(","))
                    .filter(one -> !one.isBlank())
                    .count();
            assertTrue(
                    body.lines().count() <= MOST_LINES_OF_A_METHOD,
                    () -> file + ": " + method.group(2) + " has too many lines");
            assertTrue(
                    parameters <= MOST_PARAMETERS || file.endsWith(WITH_MORE_PARAMETERS),
                    () -> file + ": " + method.group(2) + " has too many parameters");
        });
    }

    @ArchTest
    static void onlyTheseTypesArePublic(JavaClasses all) {
        Set<String> open = all.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> type.getEnclosingClass().isEmpty())
                .filter(type -> !type.getPackageName().contains(".internal"))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                new TreeSet<>(Set.of(
                        "io.limiter.Backend",
                        "io.limiter.BackendException",
                        "io.limiter.Charge",
                        "io.limiter.Decision",
                        "io.limiter.application.ConfigSource",
                        "io.limiter.application.Derived",
                        "io.limiter.FailureMode",
                        "io.limiter.InFlight",
                        "io.limiter.Limit",
                        "io.limiter.Hold",
                        "io.limiter.LimitOutcome",
                        "io.limiter.application.Limiter",
                        "io.limiter.ManualTime",
                        "io.limiter.LimiterMonitor",
                        "io.limiter.engine.RateLimiters",
                        "io.limiter.PartitionKey",
                        "io.limiter.PermitRequest",
                        "io.limiter.Policy",
                        "io.limiter.RateLimiter",
                        "io.limiter.TimeSource",
                        "io.limiter.address.IpAddress",
                        "io.limiter.address.IpNetwork",
                        "io.limiter.config.ConfigException",
                        "io.limiter.config.LimiterConfig",
                        "io.limiter.inprocess.InProcessBackend",
                        "io.limiter.redis.PlainCommands",
                        "io.limiter.redis.RedisBackend",
                        "io.limiter.rule.Cost",
                        "io.limiter.rule.KeyResolver",
                        "io.limiter.rule.PlanResolver",
                        "io.limiter.rule.Rule")),
                open,
                "a public type is a promise: add it here on purpose, or make it package-private");
    }
}
