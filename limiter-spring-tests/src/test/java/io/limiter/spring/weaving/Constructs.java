package io.limiter.spring.weaving;

import io.limiter.Decision;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.springframework.core.annotation.AliasFor;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Classes with an annotation in every possible place. Each allows {@value #LIMIT} calls. */
final class Constructs {
    static final int LIMIT = 2;

    private Constructs() {}

    static class Visible {
        @RateLimited(limits = "2/1h", key = "global")
        public String open() {
            return "done";
        }

        @RateLimited(limits = "2/1h", key = "global")
        protected String guarded() {
            return "done";
        }

        @RateLimited(limits = "2/1h", key = "global")
        String ofPackage() {
            return "done";
        }

        public String selfCalled() {
            return open();
        }
    }

    static class Hidden {
        @RateLimited(limits = "2/1h", key = "global")
        private String hidden() {
            return "done";
        }

        public String callHidden() {
            return hidden();
        }
    }

    static class OfNobody {
        @RateLimited(limits = "2/1h", key = "global")
        static String common() {
            return "done";
        }
    }

    static class Closed {
        @RateLimited(limits = "2/1h", key = "global")
        public final String last() {
            return "done";
        }
    }

    @RateLimited(limits = "2/1h", key = "global")
    static class Whole {
        public String one() {
            return "done";
        }

        String notPublic() {
            return "done";
        }

        @Override
        public String toString() {
            return "whole";
        }
    }

    static class WholeBelow extends Whole {
        public String below() {
            return "done";
        }
    }

    static class Below extends Visible {}

    abstract static class Promise {
        @RateLimited(limits = "2/1h", key = "global")
        abstract String kept();
    }

    static class Keeper extends Promise {
        @Override
        String kept() {
            return "done";
        }
    }

    interface Offer {
        @RateLimited(limits = "2/1h", key = "global")
        String taken();

        @RateLimited(limits = "2/1h", key = "global")
        default String byDefault() {
            return "done";
        }
    }

    static class Taker implements Offer {
        @Override
        public String taken() {
            return "done";
        }
    }

    @RateLimited(limits = "2/1h", key = "global")
    interface WholeOffer {
        String taken();
    }

    static class WholeTaker implements WholeOffer {
        @Override
        public String taken() {
            return "done";
        }
    }

    interface Taking<T> {
        String take(T what);
    }

    static class TakingText implements Taking<String> {
        @Override
        @RateLimited(limits = "2/1h", key = "#what")
        public String take(String what) {
            return what;
        }
    }

    static class Repeated {
        @RateLimited(limits = "9/1h", key = "global")
        @RateLimited(limits = "2/1m", key = "global")
        public String twice() {
            return "done";
        }
    }

    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(limits = "2/1h", fallback = "instead")
    @interface Two {
        @AliasFor(annotation = RateLimited.class, attribute = "key")
        String of();
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimited(limits = "9/1h", key = "global")
    @RateLimited(limits = "2/1m", key = "global")
    @interface NineAndTwo {}

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Two(of = "#user")
    @interface TwoOfUser {}

    static class Marked {
        @Two(of = "#p0")
        public String alias(String user) {
            return "done";
        }

        @NineAndTwo
        public String several() {
            return "done";
        }

        @TwoOfUser
        public String secondHand(String user) {
            return "done";
        }

        String instead(String user, Decision decision) {
            throw new RateLimitExceededException(decision);
        }
    }

    @Two(of = "global")
    static class WholeMarked {
        public String one() {
            return "done";
        }

        private String instead(Decision decision) {
            throw new RateLimitExceededException(decision);
        }
    }

    static class Results {
        @RateLimited(limits = "2/1h", key = "global")
        public void nothing() {}

        @RateLimited(limits = "2/1h", key = "global")
        public int number() {
            return 1;
        }

        @RateLimited(limits = "2/1h", key = "global")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedStage("done");
        }

        @RateLimited(limits = "2/1h", key = "global")
        public CompletableFuture<String> completable() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimited(limits = "2/1h", key = "global")
        public Future<String> future() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimited(limits = "2/1h", key = "global")
        public Mono<String> mono() {
            return Mono.just("done");
        }

        @RateLimited(limits = "2/1h", key = "global")
        public Flux<String> flux() {
            return Flux.just("done", "and done");
        }
    }
}
