package io.limiter.example.fair.places;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.TestRedis;
import io.limiter.example.fair.places.Places.Near;
import io.limiter.example.fair.places.Places.Place;
import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** The nearest places, also over the date line and near the poles, beside a calculation without Redis. */
@Tag("long")
class PlacesTest {
    private RedissonClient redisson;
    private Places places;

    @BeforeEach
    void empty() {
        redisson = TestRedis.cleared("places");
        places = new Places(redisson, "test");
    }

    @Test
    void overTheDateLineNearIsNear() {
        places.add(List.of(
                new Place("west", 179.99, -16.8), new Place("east", -179.99, -16.8), new Place("far", 178, -16.8)));

        assertEquals(List.of("east", "west", "far"), names(places.nearest(-179.999, -16.8, 3)));
        assertEquals(List.of("west", "east"), names(places.nearest(179.999, -16.8, 2)));
        assertEquals(List.of("east", "west"), names(places.within(180, -16.8, 2_000)));
        assertEquals(List.of("east", "west"), names(places.within(-180, -16.8, 2_000)));
        places.add(List.of(new Place("on the line", 180, -16.8)));
        assertEquals(List.of("on the line", "east"), names(places.nearest(-179.999, -16.8, 2)));
        assertEquals(List.of("on the line", "west"), names(places.nearest(179.999, -16.8, 2)));
    }

    @Test
    void beyondTheLastLatitudeAMessageSaysSo() {
        Place last = new Place("last", 10, 85.05);
        places.add(List.of(last));
        assertEquals(List.of("last"), names(places.nearest(10, 85.05, 1)));

        for (double latitude : new double[] {Places.LAST_LATITUDE, 85.06, 90, -85.06, -90, 91, Double.NaN}) {
            String message = assertThrows(IllegalArgumentException.class, () -> places.nearest(0, latitude, 1))
                    .getMessage();
            assertTrue(message.contains("-85.05 to 85.05"), message);
            assertThrows(IllegalArgumentException.class, () -> new Place("pole", 0, latitude));
        }
        for (double longitude : new double[] {180.1, -180.1, Double.NaN}) {
            assertThrows(IllegalArgumentException.class, () -> places.nearest(longitude, 0, 1));
        }
    }

    @Test
    void placesAtOneDistanceAreInTheOrderOfTheNames() {
        List<Place> rooms = new ArrayList<>();
        for (int room = 40; room >= 10; room--) {
            rooms.add(new Place("room " + room, 10, 54));
        }
        rooms.add(new Place("a farm", 11, 54));
        places.add(rooms);

        assertEquals(List.of("room 10", "room 11", "room 12"), names(places.nearest(10.001, 54, 3)));
        assertEquals(31, places.nearest(10.001, 54, 31).size());
        assertEquals("a farm", places.nearest(10.001, 54, 100).get(31).name());
        assertEquals(List.of(), new Places(redisson, "empty").nearest(0, 0, 3));
    }

    @Test
    void everywhereOnEarthTheNearestAreThoseOfACalculation() {
        Random random = new Random(1);
        List<Place> all = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            all.add(new Place("p" + i, longitude(random), latitude(random)));
        }
        places.add(all);
        for (int i = 0; i < Repeats.of(300, 10_000); i++) {
            double longitude = longitude(random);
            double latitude = latitude(random);
            double[] expected = all.stream()
                    .mapToDouble(place -> Town.metres(place, longitude, latitude))
                    .sorted()
                    .limit(5)
                    .toArray();
            double[] found = places.nearest(longitude, latitude, 5).stream()
                    .mapToDouble(Near::metres)
                    .toArray();

            assertEquals(expected.length, found.length);
            for (int at = 0; at < found.length; at++) {
                assertEquals(expected[at], found[at], 2, "from " + longitude + ", " + latitude);
            }
        }
    }

    @Test
    void theDistanceOfTwoPlacesIsThatOfACalculation() {
        Random random = new Random(2);
        List<Place> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            all.add(new Place("p" + i, longitude(random), latitude(random)));
        }
        places.add(all);
        for (int i = 1; i < all.size(); i++) {
            Place here = all.get(i);
            double expected = Town.metres(all.get(i - 1), here.longitude(), here.latitude());
            assertEquals(expected, places.distance("p" + (i - 1), "p" + i).orElseThrow(), 2);
        }
        assertEquals(0, places.distance("p7", "p7").orElseThrow());
        assertTrue(places.distance("p7", "nowhere").isEmpty());
        assertTrue(places.distance("nowhere", "p7").isEmpty());
    }

    /** Every third one at the date line. */
    private static double longitude(Random random) {
        return random.nextInt(3) == 0
                ? (random.nextBoolean() ? 180 - random.nextDouble() : random.nextDouble() - 180)
                : random.nextDouble() * 360 - 180;
    }

    /** Every third one near a pole. */
    private static double latitude(Random random) {
        return random.nextInt(3) == 0
                ? (random.nextBoolean() ? 1 : -1) * (80 + 5 * random.nextDouble())
                : random.nextDouble() * 170 - 85;
    }

    private static List<String> names(List<Near> near) {
        return near.stream().map(Near::name).toList();
    }
}
