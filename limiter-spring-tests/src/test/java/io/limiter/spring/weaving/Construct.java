package io.limiter.spring.weaving;

import static io.limiter.spring.weaving.Construct.Cell.NO;
import static io.limiter.spring.weaving.Construct.Cell.REFUSED;
import static io.limiter.spring.weaving.Construct.Cell.YES;

import io.limiter.spring.weaving.Constructs.Below;
import io.limiter.spring.weaving.Constructs.Closed;
import io.limiter.spring.weaving.Constructs.Hidden;
import io.limiter.spring.weaving.Constructs.Keeper;
import io.limiter.spring.weaving.Constructs.Marked;
import io.limiter.spring.weaving.Constructs.OfNobody;
import io.limiter.spring.weaving.Constructs.Offer;
import io.limiter.spring.weaving.Constructs.Promise;
import io.limiter.spring.weaving.Constructs.Repeated;
import io.limiter.spring.weaving.Constructs.Results;
import io.limiter.spring.weaving.Constructs.Taker;
import io.limiter.spring.weaving.Constructs.Taking;
import io.limiter.spring.weaving.Constructs.TakingText;
import io.limiter.spring.weaving.Constructs.Visible;
import io.limiter.spring.weaving.Constructs.Whole;
import io.limiter.spring.weaving.Constructs.WholeBelow;
import io.limiter.spring.weaving.Constructs.WholeMarked;
import io.limiter.spring.weaving.Constructs.WholeOffer;
import io.limiter.spring.weaving.Constructs.WholeTaker;

/** The places of an annotation, and with which weaving it limits; docs/spring/where-it-works.md has those that differ. */
enum Construct {
    PUBLIC_METHOD("a public method", YES, YES, Visible.class, Visible::open),
    PROTECTED_METHOD("a protected method", YES, YES, Visible.class, Visible::guarded),
    PACKAGE_METHOD("a package-private method", YES, YES, Visible.class, Visible::ofPackage),
    PRIVATE_METHOD("a private method", REFUSED, YES, Hidden.class, Hidden::callHidden),
    STATIC_METHOD("a static method", REFUSED, YES, OfNobody.class, any -> OfNobody.common()),
    FINAL_METHOD("a final method", REFUSED, YES, Closed.class, Closed::last),
    SELF_CALL("a method that its own object calls", NO, YES, Visible.class, Visible::selfCalled),
    NEW_OBJECT("a method of an object made by `new`", NO, YES, Visible.class, any -> new Visible().open()),
    INHERITED_METHOD("a method that a subclass inherits", YES, YES, Below.class, Below::open),
    OVERRIDDEN_METHOD(
            "a method that a subclass overrides without the annotation", YES, NO, Keeper.class, Promise::kept),
    GENERIC_METHOD(
            "a method of a generic interface, called by it", YES, YES, TakingText.class, Taking.class, it -> taken(it)),
    CLASS("a class: its public methods together", YES, YES, Whole.class, it -> it.one() + it.getClass()),
    CLASS_OTHER_METHOD(
            "a class: not its other methods, nor `toString`", NO, NO, Whole.class, it -> it.notPublic() + it),
    CLASS_INHERITED("a superclass: public methods of a subclass", YES, YES, WholeBelow.class, WholeBelow::below),
    INTERFACE_METHOD("a method of an interface", YES, NO, Taker.class, Offer.class, Offer::taken),
    INTERFACE_DEFAULT("a default method of an interface", YES, YES, Taker.class, Offer.class, Offer::byDefault),
    INTERFACE("an interface: its methods", YES, YES, WholeTaker.class, WholeOffer.class, WholeOffer::taken),
    REPEATED("several annotations on one method", YES, YES, Repeated.class, Repeated::twice),
    META("an annotation of your own, with aliases", YES, YES, Marked.class, it -> it.alias("u")),
    META_SEVERAL("an annotation of your own with several of them", YES, YES, Marked.class, Marked::several),
    META_META(
            "an annotation of your own with an annotation of your own",
            YES,
            YES,
            Marked.class,
            it -> it.secondHand("u")),
    META_CLASS("an annotation of your own on a class", YES, YES, WholeMarked.class, WholeMarked::one),
    RETURNS_VOID("a method that returns nothing", YES, YES, Results.class, it -> {
        it.nothing();
        return "done";
    }),
    RETURNS_PRIMITIVE("a method that returns a primitive", YES, YES, Results.class, Results::number),
    RETURNS_STAGE("a method that returns `CompletionStage`", YES, YES, Results.class, Results::stage),
    RETURNS_COMPLETABLE("a method that returns `CompletableFuture`", YES, YES, Results.class, Results::completable),
    RETURNS_FUTURE("a method that returns `Future`", YES, YES, Results.class, Results::future),
    RETURNS_MONO("a method that returns `Mono`", YES, YES, Results.class, Results::mono),
    RETURNS_FLUX("a method that returns `Flux`", YES, YES, Results.class, Results::flux);

    /** Whether calls are limited. */
    enum Cell {
        YES("yes"),
        NO("no"),
        /** The start fails, so that nobody believes to be limited. */
        REFUSED("no: RL-130");

        final String text;

        Cell(String text) {
            this.text = text;
        }
    }

    /** One call. */
    interface Call<T> {
        Object on(T it) throws Exception;
    }

    final String text;
    final Cell proxied;
    final Cell woven;
    final Class<?> type;
    final Class<?> calledBy;
    private final Call<Object> call;

    <T> Construct(String text, Cell proxied, Cell woven, Class<T> type, Call<? super T> call) {
        this(text, proxied, woven, type, type, call);
    }

    @SuppressWarnings("unchecked") // the object is always of the type
    <T> Construct(
            String text, Cell proxied, Cell woven, Class<? extends T> type, Class<T> calledBy, Call<? super T> call) {
        this.text = text;
        this.proxied = proxied;
        this.woven = woven;
        this.type = type;
        this.calledBy = calledBy;
        this.call = (Call<Object>) call;
    }

    Object callOn(Object object) throws Exception {
        return call.on(object);
    }

    @SuppressWarnings("unchecked")
    private static String taken(Taking<?> taking) {
        return ((Taking<String>) taking).take("x");
    }
}
