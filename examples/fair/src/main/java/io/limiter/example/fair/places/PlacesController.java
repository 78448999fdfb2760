package io.limiter.example.fair.places;

import io.limiter.example.fair.places.Places.Near;
import io.limiter.example.fair.places.Places.Place;
import io.limiter.example.fair.places.Town.Spot;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.redisson.api.RedissonClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The nearest polling places, in a town that can be moved to the date line and to the last latitude. */
@RestController
@RequestMapping("/api/places")
public class PlacesController {
    /** A point of a town's map, in kilometres east and north of its middle. */
    record Point(String region, double east, double north) {}

    /** The map and the nearest places from the point. */
    record View(List<Spot> spots, double longitude, double latitude, List<Near> nearest) {}

    /** Between two places, in metres. */
    record Distance(double metres) {}

    /** A number of random points, and at how many of them Redis found the same places as a calculation without it. */
    record Compared(int points, int same) {}

    private static final int NEAREST = 3;
    private static final int POINTS = 200;

    private final RedissonClient redisson;

    PlacesController(RedissonClient redisson) {
        this.redisson = redisson;
        Town.TOWNS.forEach(town -> places(town).add(town.places()));
    }

    /** The polling places nearest to a point. */
    @GetMapping
    View view(Point point) {
        Town town = town(point.region());
        double longitude = town.longitude(point.east());
        double latitude = town.latitude(point.north());
        return new View(Town.SPOTS, longitude, latitude, places(town).nearest(longitude, latitude, NEAREST));
    }

    /** How far it is from one place to another. */
    @GetMapping("/distance")
    Distance distance(String region, String from, String to) {
        double metres = places(town(region))
                .distance(from, to)
                .orElseThrow(() -> new IllegalArgumentException("from and to must be places of the town"));
        return new Distance(metres);
    }

    /** Compares the nearest place of random points with the one by exact distances. */
    @PostMapping("/compare")
    Compared compare(@RequestBody Point point) {
        Town town = town(point.region());
        List<Place> all = town.places();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int same = 0;
        for (int i = 0; i < POINTS; i++) {
            double longitude = town.longitude(random.nextDouble(-6, 6));
            double latitude = town.latitude(random.nextDouble(-6, 3));
            double found = places(town).nearest(longitude, latitude, 1).get(0).metres();
            double exact = all.stream()
                    .mapToDouble(place -> Town.metres(place, longitude, latitude))
                    .min()
                    .orElseThrow();
            // Redis keeps a place to within half a metre.
            same += Math.abs(found - exact) < 2 ? 1 : 0;
        }
        return new Compared(POINTS, same);
    }

    private Town town(String region) {
        return Town.TOWNS.stream()
                .filter(town -> town.region().equals(region))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("region must be one of "
                        + Town.TOWNS.stream().map(Town::region).toList()));
    }

    private Places places(Town town) {
        return new Places(redisson, town.region());
    }
}
