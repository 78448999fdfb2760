package com.example;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.grpc.RateLimitServerInterceptor;
import java.nio.file.Path;

/** The server of the page; GettingStartedTest runs it. */
public class HealthServer {
    public static void main(String[] args) throws Exception {
        int port = Integer.getInteger("port", 50051);
        LimiterConfig config =
                LimiterConfig.builder().file(Path.of("limiter.properties")).build();
        try (Limiter limiter = Limiter.start(config)) {
            Server server = Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create())
                    .addService(new HealthStatusManager().getHealthService())
                    .intercept(RateLimitServerInterceptor.builder(limiter).build())
                    .build()
                    .start();
            ManagedChannel channel = Grpc.newChannelBuilderForAddress(
                            "localhost", server.getPort(), InsecureChannelCredentials.create())
                    .build();
            for (int i = 0; i < 4; i++) {
                try {
                    System.out.println(HealthGrpc.newBlockingStub(channel)
                            .check(HealthCheckRequest.getDefaultInstance())
                            .getStatus());
                } catch (StatusRuntimeException denied) {
                    System.out.println(denied.getMessage());
                }
            }
            channel.shutdownNow();
            server.shutdownNow().awaitTermination();
        }
    }
}
