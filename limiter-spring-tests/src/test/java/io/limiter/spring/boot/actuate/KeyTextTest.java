package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.http.internal.Explainer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The key that an operator means, from the pasted text. */
class KeyTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                // as it stands in Redis
                "192.0.2.1                                      | 192.0.2.1",
                "user=alice                                     | user=alice",
                "user=alice%40example.com                       | user=alice%40example.com",
                "192.0.2.1:header.x-api-key=k1                  | 192.0.2.1:header.x-api-key=k1",
                "2001%3Adb8%3A%3A%2F64                          | 2001%3Adb8%3A%3A%2F64",
                "2001%3Adb8%3A%3A%2F64:user=alice               | 2001%3Adb8%3A%3A%2F64:user=alice",
                "@192.0.2.1                                     | @192.0.2.1",
                "*                                              | *",
                // a client's address, as a log shows it, or decoded on its way
                "2001:db8::/64                                  | 2001%3Adb8%3A%3A%2F64",
                "2001:db8:0:0:1:2:3:4                           | 2001%3Adb8%3A%3A%2F64",
                "2001:DB8::5                                    | 2001%3Adb8%3A%3A%2F64",
                "2001:db8:1:2:3::/56                            | 2001%3Adb8%3A1%3A%3A%2F56",
                "::ffff:192.0.2.1                               | 192.0.2.1",
                "64:ff9b::192.0.2.1                             | 192.0.2.1",
                "unknown                                        | unknown",
            })
    void isRead(String text, String canonical) {
        assertEquals(PartitionKey.parse(canonical), RateLimitsEndpoint.key(text, 64));
    }

    @Test
    void withAnotherPrefixAsTheRulesOfThePolicySay() {
        assertEquals(
                "2001%3Adb8%3A1%3A%3A%2F48",
                RateLimitsEndpoint.key("2001:db8:1:2::5", 48).canonical());
        assertEquals(
                "2001%3Adb8%3A1%3A2%3A%3A5",
                RateLimitsEndpoint.key("2001:db8:1:2::5", 128).canonical());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alice@example.com",
                "user=alice@example.com",
                "2001:db8::/64:user=alice",
                "a b",
                "user=",
                "192.0.2.1/33",
            })
    void isRefused(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> RateLimitsEndpoint.key(text, 64))
                .getMessage();
        assertTrue(message.contains("--data-urlencode"), message);
    }

    @Test
    void thePartsAreShownInPlainText() {
        PartitionKey key = PartitionKey.builder()
                .add("2001:db8::/64")
                .add("user", "alice:b@example.com")
                .addStandIn("192.0.2.1")
                .build();
        assertEquals(List.of("2001:db8::/64", "user=alice:b@example.com", "@192.0.2.1"), Explainer.parts(key));
    }
}
