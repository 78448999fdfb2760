package io.limiter.example.fair.places;

import io.limiter.example.fair.places.Places.Place;
import java.util.List;

/** A town of a few kilometres and its polling places, which can lie anywhere on earth. */
record Town(String region, double longitude, double latitude) {
    /** A polling place, in kilometres east and north of the town's middle. */
    record Spot(String name, double east, double north) {}

    /** Two places in one school: at the same distance from everywhere. */
    static final List<Spot> SPOTS = List.of(
            new Spot("Town hall", 0.2, 0.3),
            new Spot("Library", -1.6, 1.1),
            new Spot("School, room B", 2.1, -1.4),
            new Spot("School, room A", 2.1, -1.4),
            new Spot("Harbour", -3.9, -2.2),
            new Spot("Fire station", 3.6, 2.4),
            new Spot("Museum", -0.9, -2.9),
            new Spot("Swimming pool", -4.2, 3.3),
            new Spot("Theatre", 1.3, 3.9),
            new Spot("Farm", 5.0, -4.4));

    static final List<Town> TOWNS =
            List.of(new Town("home", 10.13, 54.32), new Town("dateline", 180, -16.8), new Town("north", 15.6, 85.01));

    private static final double KM_PER_DEGREE = 111.2;
    /** In metres, as Redis has it. */
    private static final double EARTH_RADIUS = 6_372_797.560856;

    /** The polling places on earth. */
    List<Place> places() {
        return SPOTS.stream()
                .map(spot -> new Place(spot.name(), longitude(spot.east()), latitude(spot.north())))
                .toList();
    }

    /** The latitude of a point so far north of the middle. */
    double latitude(double north) {
        return latitude + north / KM_PER_DEGREE;
    }

    /** The longitude of a point so far east of the middle; beyond 180 it goes on at -180. */
    double longitude(double east) {
        double degrees = longitude + east / (KM_PER_DEGREE * Math.cos(Math.toRadians(latitude)));
        return degrees > 180 ? degrees - 360 : degrees;
    }

    /** The distance on a ball by the haversine formula, without Redis, in metres. */
    static double metres(Place from, double longitude, double latitude) {
        double v = Math.sin(Math.toRadians(latitude - from.latitude()) / 2);
        double u = Math.sin(Math.toRadians(longitude - from.longitude()) / 2);
        double cosines = Math.cos(Math.toRadians(latitude)) * Math.cos(Math.toRadians(from.latitude()));
        return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(v * v + cosines * u * u));
    }
}
