package io.limiter.http.internal.address;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Odd headers and odd addresses: some in every build, a million of each when asked for. */
class AddressFuzzTest {
    private static final int SOME = 5_000;
    private static final int MANY = 1_000_000;
    private static final long SEED = 20_261_121;

    @Test
    void someHeaders() {
        AddressFuzz.headers(SOME, SEED);
    }

    @Test
    void someAddresses() {
        AddressFuzz.addresses(SOME, SEED);
    }

    @Test
    @Tag("soak")
    void aMillionHeaders() {
        System.out.printf("%d cases of headers: %x%n", MANY, AddressFuzz.headers(MANY, SEED + 1));
    }

    @Test
    @Tag("soak")
    void aMillionAddresses() {
        System.out.printf("%d cases of addresses: %x%n", MANY, AddressFuzz.addresses(MANY, SEED + 1));
    }

    /** Another JVM, with an environment that allows only ASCII, finds the same clients. */
    @Test
    void theLocaleOfTheMachineMeansNothing() throws IOException, InterruptedException {
        ProcessBuilder other = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-Dorg.slf4j.simpleLogger.log.io.limiter.http.internal.address.AddressResolver=off",
                "-cp",
                System.getProperty("java.class.path"),
                OtherLocale.class.getName(),
                Integer.toString(SOME),
                Long.toString(SEED));
        other.environment().put("LC_ALL", "C");
        other.environment().remove("JAVA_TOOL_OPTIONS");
        Process process = other.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertEquals(0, process.waitFor(), output);
        assertEquals(
                String.format(
                        "ANSI_X3.4-1968 %x %x", AddressFuzz.headers(SOME, SEED), AddressFuzz.addresses(SOME, SEED)),
                output.strip());
    }

    /** Prints the encoding of its machine, and the results. */
    static final class OtherLocale {
        private OtherLocale() {}

        public static void main(String[] args) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
            int cases = Integer.parseInt(args[0]);
            long seed = Long.parseLong(args[1]);
            System.out.printf(
                    "%s %x %x%n",
                    System.getProperty("sun.jnu.encoding"),
                    AddressFuzz.headers(cases, seed),
                    AddressFuzz.addresses(cases, seed));
        }
    }
}
