package io.limiter.kit.door;

/**
 * A running door.
 *
 * @param holding what answers those that it holds
 * @param server what is closed with it
 */
public record RunningDoor(int port, Runnable holding, AutoCloseable server) implements Door.Running {
    @Override
    public void stopHolding() {
        holding.run();
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
