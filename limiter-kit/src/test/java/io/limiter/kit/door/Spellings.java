package io.limiter.kit.door;

import io.limiter.kit.Repeats;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/** Request targets that mean, to one reader or another, {@code /health}, {@code /static/*}, {@code /img/{size}/logo.png} or {@code /admin}. */
public final class Spellings {
    /** What comes between segments, or into them. */
    private static final List<String> ODD = List.of(
            "/",
            "//",
            "/./",
            "/../",
            "/;/",
            "/..;/",
            "/.;x/",
            ";x=1",
            ";",
            "%2f",
            "%2F",
            "%5c",
            "\\",
            "%2e",
            "%2e%2e",
            "/%2e%2e/",
            "..",
            ".",
            "%00",
            "%20",
            "%09",
            "%0d",
            "+",
            "%252e",
            "%252f",
            "%25",
            "?",
            "?x=/health",
            "#",
            "%E2%82",
            "%c0%ae",
            "%u002e",
            "/..%2f",
            "/..%5c",
            ".json",
            "~",
            ":",
            "@",
            "*",
            "%3b",
            "%3f",
            "%23",
            "%7f");

    private static final List<String> WORDS =
            List.of("health", "static", "img", "1", "logo.png", "admin", "HEALTH", "h%65alth", "a.css", "");

    /** From the vectors of the Servlet specification and of advisories, around what is exempt and what is not. */
    private static final List<String> WRITTEN = List.of(
            "/x/..;/health",
            "/static/..;/admin",
            "/static/../admin",
            "/static/%2e%2e/admin",
            "/static/..%2fadmin",
            "/static/..%5cadmin",
            "/static/%2e%2e%2fadmin",
            "/static/%252e%252e/admin",
            "/static/x/../../admin",
            "/health/../admin",
            "/health/..;/admin",
            "/admin/..;/health",
            "/admin;/health",
            "/health;/admin",
            "/admin%2fhealth",
            "/admin?/health",
            "//health",
            "/health/",
            "/health//",
            "/health%00",
            "/health%20",
            "/health.json",
            "/HEALTH",
            "/Static/a.css",
            "/static;x/../admin",
            "/static/;/admin",
            "/;/health",
            "/static/.%2e/admin",
            "/static\\..\\admin",
            "/static/..\\admin",
            "/%73tatic/../admin",
            "/./health",
            "/static/a%2fb",
            "/static/a;jsessionid=1",
            "/img//logo.png",
            "/img/1/2/logo.png",
            "/img/../logo.png",
            "/img/..;/logo.png",
            "/img/%2e%2e/logo.png",
            "/img/a%2fb/logo.png",
            "/health?x",
            "/static",
            "/static/",
            "/static/a.css",
            "/img/1/logo.png",
            "/health",
            "/h%65alth",
            "/static/a%20b.css",
            "http://h/health",
            "http://h/admin",
            "http://health/admin",
            "*");

    private Spellings() {}

    /** The same ones each time; at least this number. */
    public static List<String> all(int number) {
        Set<String> all = new LinkedHashSet<>(WRITTEN);
        for (String odd : ODD) {
            for (String path : List.of("/health", "/static/a.css", "/admin", "/static/", "/")) {
                all.add(path + odd);
                all.add(path + odd + "admin");
                all.add(path + odd + "/health");
                all.add("/" + odd + path.substring(1));
                all.add("/admin/" + odd + path);
            }
        }
        Random seeded = new Random(17);
        while (all.size() < number) {
            StringBuilder path = new StringBuilder("/");
            for (int i = seeded.nextInt(4); i >= 0; i--) {
                path.append(WORDS.get(seeded.nextInt(WORDS.size())));
                path.append(seeded.nextInt(3) == 0 ? "/" : ODD.get(seeded.nextInt(ODD.size())));
            }
            path.append(WORDS.get(seeded.nextInt(WORDS.size())));
            all.add(path.toString());
        }
        return new ArrayList<>(all);
    }

    /** All of them in a long run; in the usual build a few, of which each so many-th. */
    public static List<String> some(int few, int step) {
        List<String> all = all(Repeats.of(few, 3_000));
        return IntStream.iterate(0, i -> i < all.size(), i -> i + Repeats.of(step, 1))
                .mapToObj(all::get)
                .toList();
    }
}
