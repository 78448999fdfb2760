package io.limiter.kit;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.inprocess.InProcessBackend;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A backend in the process whose test hears what is charged before that is decided. A look is no charge. */
public final class Heard implements Backend {
    private final Backend decides = InProcessBackend.create();
    private final Consumer<List<Charge>> test;

    public Heard(Consumer<List<Charge>> test) {
        this.test = test;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        if (mode == Mode.TAKE) {
            test.accept(charges);
        }
        return decides.decide(charges, mode);
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return decides.refund(decision);
    }

    @Override
    public void close() {
        decides.close();
    }
}
