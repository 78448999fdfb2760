package earlier;

import io.limiter.spring.RateLimited;

public final class Woven {
    @RateLimited(limits = "2/1h", key = "#user")
    public String greet(String user) {
        return "hello " + user;
    }

    /** Which a proxy would not see. */
    public static String twice(String user) {
        return new Woven().greet(user) + new Woven().greet(user);
    }
}
