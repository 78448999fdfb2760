package io.limiter.spring.boot.actuate;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** An object of JSON, with its values in the order in which they are added. */
final class JsonObject extends LinkedHashMap<String, @Nullable Object> {
    private static final long serialVersionUID = 1L;

    JsonObject with(String name, @Nullable Object value) {
        put(name, value);
        return this;
    }
}
