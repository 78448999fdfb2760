package io.limiter.example.site;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What the body of a call has to be, beside the method that takes it: who sends something else is told this. */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface ExpectedBody {
    /** Ends the sentence "send ...": a JSON object of a shape, with an example that is taken as it stands. */
    String value();
}
