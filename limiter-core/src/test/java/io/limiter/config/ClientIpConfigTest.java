package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.address.IpNetwork;
import io.limiter.internal.config.ClientIpSettings;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The properties that say where the client's address is found. */
class ClientIpConfigTest {
    private static final String RULE = "limiter.rules.a.path = /x\nlimiter.rules.a.limits = 1/s\n";

    @Test
    void nobodyIsTrustedUnlessWritten() throws IOException {
        LimiterConfig config = parse(RULE);
        assertEquals(ClientIpSettings.DEFAULT, config.settings().clientIp());
        assertEquals(64, config.settings().rules().get(0).ipv6PrefixBits());
    }

    @Test
    void proxiesAreReadAsWritten() throws IOException {
        LimiterConfig config = parse(
                "limiter.client-ip.trusted-proxies = 10.0.0.0/8, 2001:db8::/32,192.0.2.1 , unix, ::ffff:10.0.0.0/104\n"
                        + "limiter.client-ip.ipv6-prefix = 56\n"
                        + RULE
                        + "limiter.rules.a.ipv6-prefix = 48\n"
                        + RULE.replace(".a.", ".b."));
        assertEquals(
                new ClientIpSettings(
                        List.of(
                                IpNetwork.parse("10.0.0.0/8"),
                                IpNetwork.parse("2001:db8::/32"),
                                IpNetwork.parse("192.0.2.1/32"),
                                IpNetwork.parse("10.0.0.0/8")),
                        true,
                        false,
                        0,
                        "X-Forwarded-For",
                        56,
                        ClientIpSettings.Source.AUTO),
                config.settings().clientIp());
        assertEquals(48, config.settings().rules().get(0).ipv6PrefixBits());
        assertEquals(56, config.settings().rules().get(1).ipv6PrefixBits());
    }

    @Test
    void hopsAndAHeaderAreReadAsWritten() throws IOException {
        assertEquals(
                new ClientIpSettings(List.of(), false, false, 2, "forwarded", 64, ClientIpSettings.Source.AUTO),
                parse("limiter.client-ip.trusted-hops = 2\nlimiter.client-ip.header = forwarded\n")
                        .settings()
                        .clientIp());
    }

    @Test
    void everybodyIsTrustedByAWordOnly() throws IOException {
        assertEquals(
                new ClientIpSettings(List.of(), false, true, 0, "X-Real-IP", 64, ClientIpSettings.Source.AUTO),
                parse("limiter.client-ip.trusted-proxies = ALL\nlimiter.client-ip.header = X-Real-IP\n")
                        .settings()
                        .clientIp());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "trusted-proxies = proxy.example | 'proxy.example' is not a network; write an address",
                "trusted-proxies = 10.0.0.0/8, | an item is empty; write networks such as 10.0.0.0/8",
                "trusted-proxies = 0.0.0.0/0 | would trust every peer; write the networks of your proxies, or the word all",
                "trusted-proxies = ::/0 | would trust every peer",
                "trusted-proxies = 10.0.0.1/00 | would trust every peer",
                "trusted-proxies = 0.0.0.0 | is not the address of a host",
                "trusted-proxies = ::/128 | is not the address of a host",
                "trusted-proxies = ::ffff:10.0.0.0/8 | as IPv4, such as 10.0.0.0/8",
                "trusted-proxies = 10.0.0.0/33 | the prefix of an IPv4 address is 1 to 32 bits",
                "trusted-proxies = 010.0.0.0/8 | '010.0.0.0/8' is not a network",
                "trusted-proxies = * | '*' is not a network",
                "trusted-proxies = 10.0.0.0/33, x | 1 to 32 bits; write it as a number without leading zeros; and 'x' is",
                "trusted-proxies = all, 10.0.0.0/8 | 'all' already includes every address",
                "trusted-hops = 0 | not a whole number from 1 to 32",
                "trusted-hops = 33 | not a whole number from 1 to 32",
                "header = X-Forwarded-For | anybody can send this header; add limiter.client-ip.trusted-proxies",
                "header = X-Forwarded-For, Forwarded | not the name of one header; write X-Forwarded-For, Forwarded, or",
                "header = X-Forwared-For | did you mean 'X-Forwarded-For'?",
                "header = Forwarde | did you mean 'Forwarded'?",
                "ipv6-prefix = 129 | not a whole number from 32 to 128",
                "ipv6-prefix = 16 | not a whole number from 32 to 128",
                "ipv6-prefix = /64 | not a whole number from 32 to 128"
            })
    void aMistakeIsToldWithItsRemedy(String line, String words) {
        String message = message("limiter.client-ip." + line);
        String key = "limiter.client-ip." + line.split(" ", 2)[0];
        assertTrue(message.matches("(?s).*line 1: RL-10\\d " + key + " = .*"), message);
        assertTrue(message.contains(words), message);
    }

    @Test
    void noMessageHasControlCharactersOrNoEnd() {
        String message = message("limiter.client-ip.trusted-proxies = \\u0007\\u001b[31m" + "x".repeat(5_000));
        assertFalse(message.chars().anyMatch(c -> c != '\n' && Character.isISOControl(c)), message);
        assertTrue(message.length() < 1_000, message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "trusted-proxies = 10.0.0.0/8, all | 'all' already includes every address",
                "trusted-proxies = all, unix | 'all' already includes every address",
                "trusted-hops = 1; header = X-Real-IP | has no hops to count",
                "trusted-hops = 1; trusted-proxies = unix | already defines the trusted proxies; keep one of the two",
                "trusted-proxies = unix; header = a b | not the name of one header",
            })
    void whatDoesNotFitTogether(String lines, String words) {
        String message = message("limiter.client-ip." + lines.replace("; ", "\nlimiter.client-ip."));
        assertTrue(message.contains("has 1 problem:") && message.contains(words), message);
    }

    @Test
    void theUsualHeaderIsReadWhereSomebodyIsTrusted() throws IOException {
        for (String trusted : List.of("trusted-hops = 1", "trusted-proxies = unix", "trusted-proxies = all")) {
            assertEquals(
                    "X-Forwarded-For",
                    parse("limiter.client-ip." + trusted).settings().clientIp().header());
        }
    }

    private static String message(String text) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> parse(text)).getMessage());
    }

    private static LimiterConfig parse(String text) throws IOException {
        return LimiterConfig.builder()
                .text("limiter.properties", new StringReader(text))
                .build();
    }
}
