package io.limiter.example.fair.places;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.redisson.api.RGeo;
import org.redisson.api.RedissonClient;
import org.redisson.api.geo.GeoEntry;
import org.redisson.api.geo.GeoOrder;
import org.redisson.api.geo.GeoSearchArgs;
import org.redisson.api.geo.GeoUnit;
import org.redisson.client.codec.StringCodec;

/**
 * Polling places and which of them are near. Thread-safe; all instances share what is in Redis.
 *
 * <p>Redis keeps a place to within about half a metre, and takes the earth for a ball: distances are right to 0.5 %. It
 * has no places beyond {@value #LAST_LATITUDE} degrees north or south.
 */
public final class Places {
    /** The last latitude that Redis accepts, north and south. The square map of the web ends there too. */
    public static final double LAST_LATITUDE = 85.05112878;

    /** More than half of the earth's circumference, in metres. */
    private static final double EVERYWHERE = 20_100_000;

    /** A polling place. Longitude from -180 to 180, both of which are the date line; latitude from -85.05 to 85.05, in degrees. */
    public record Place(String name, double longitude, double latitude) {
        /** Checks the position. */
        public Place {
            check(longitude, latitude);
            longitude = dateLineOnce(longitude);
        }
    }

    /** A place and how far it is, in metres. */
    public record Near(String name, double metres) {}

    private final RGeo<String> places;

    /** The places in {@code fair:places:<region>}. */
    public Places(RedissonClient redisson, String region) {
        this.places = redisson.getGeo("fair:places:" + region, StringCodec.INSTANCE);
    }

    /** Adds places, or moves those that it has. */
    public void add(Collection<Place> added) {
        if (!added.isEmpty()) {
            places.add(added.stream()
                    .map(place -> new GeoEntry(place.longitude(), place.latitude(), place.name()))
                    .toArray(GeoEntry[]::new));
        }
    }

    /**
     * The nearest places, at most this many; places at the same distance by name.
     *
     * @throws IllegalArgumentException if Redis can't search from there
     */
    public List<Near> nearest(double longitude, double latitude, int count) {
        check(longitude, latitude);
        Collection<Double> distances = places.searchWithDistance(GeoSearchArgs.from(dateLineOnce(longitude), latitude)
                        .radius(EVERYWHERE, GeoUnit.METERS)
                        .count(count)
                        .order(GeoOrder.ASC))
                .values();
        if (distances.isEmpty()) {
            return List.of();
        }
        // Of places at one distance, Redis returns them in any order and cuts anywhere. So all that are as near as
        // the last one are read, and put in order here. Redis rounds distances, hence the metre.
        double last = distances.stream().mapToDouble(Double::doubleValue).max().getAsDouble();
        return within(longitude, latitude, last + 1).stream().limit(count).toList();
    }

    /** The places within a distance, the nearest first; places at the same distance by name. */
    public List<Near> within(double longitude, double latitude, double metres) {
        check(longitude, latitude);
        Map<String, Double> found = places.searchWithDistance(
                GeoSearchArgs.from(dateLineOnce(longitude), latitude).radius(metres, GeoUnit.METERS));
        return found.entrySet().stream()
                .map(entry -> new Near(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingDouble(Near::metres).thenComparing(Near::name))
                .toList();
    }

    /** The distance of two places in metres; empty if one of them is not there. */
    public OptionalDouble distance(String from, String to) {
        Double metres = places.dist(from, to, GeoUnit.METERS);
        return metres == null ? OptionalDouble.empty() : OptionalDouble.of(metres);
    }

    /** The date line as -180: from 180 Redis finds nothing on the other side of it. */
    private static double dateLineOnce(double longitude) {
        return longitude == 180 ? -180 : longitude;
    }

    private static void check(double longitude, double latitude) {
        if (!(Math.abs(latitude) < LAST_LATITUDE)) {
            throw new IllegalArgumentException(
                    "latitude is " + latitude + "; Redis has places from -85.05 to 85.05 only, none at the poles");
        }
        if (!(Math.abs(longitude) <= 180)) {
            throw new IllegalArgumentException("longitude is " + longitude + "; give one from -180 to 180");
        }
    }
}
