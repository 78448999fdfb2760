package io.limiter.example.site;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The expected body of a call, declared at the method that reads it; sent to clients that send something else. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface ExpectedBody {
    /** Ends the sentence "send ...": the shape of a JSON object, with a valid example. */
    String value();
}
