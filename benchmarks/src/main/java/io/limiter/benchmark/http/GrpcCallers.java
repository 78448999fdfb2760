package io.limiter.benchmark.http;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.limiter.benchmark.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Callers of a unary method of gRPC, eight on each connection. */
final class GrpcCallers extends Callers {
    private static final int A_CONNECTION = 8;
    private static final Metadata.Key<String> CLIENT =
            Metadata.Key.of(Filters.CLIENT, Metadata.ASCII_STRING_MARSHALLER);

    private final List<ManagedChannel> channels = new ArrayList<>();
    private final Queue<Ended> ended = new ConcurrentLinkedQueue<>();
    private int idle;
    private int next;

    private record Ended(long nanos, boolean isAllowed) {}

    /** Opens connections for that number of callers to a port of this machine. */
    GrpcCallers(int port, int most, int[] clients) {
        super(most, clients);
        idle = most;
        for (int i = 0; i < most; i += A_CONNECTION) {
            channels.add(Grpc.newChannelBuilderForAddress("127.0.0.1", port, InsecureChannelCredentials.create())
                    .directExecutor()
                    .build());
        }
    }

    @Override
    int idle() {
        return idle;
    }

    @Override
    void send(int client, long due) {
        idle--;
        ClientCall<byte[], byte[]> call =
                channels.get(next++ % channels.size()).newCall(Doors.GET_THINGS, CallOptions.DEFAULT);
        Metadata headers = new Metadata();
        headers.put(CLIENT, Integer.toString(client));
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        ended.add(new Ended(System.nanoTime() - due, status.isOk()));
                    }
                },
                headers);
        call.request(2);
        call.sendMessage(Doors.BODY);
        call.halfClose();
    }

    @Override
    boolean receive(Samples samples) {
        boolean isAny = false;
        for (Ended one = ended.poll(); one != null; one = ended.poll()) {
            samples.add(one.nanos, one.isAllowed ? OK : 0);
            idle++;
            isAny = true;
        }
        return isAny;
    }

    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
    }
}
