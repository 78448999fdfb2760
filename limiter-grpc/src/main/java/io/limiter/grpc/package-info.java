/** The rules of the configuration in gRPC: an interceptor of servers, and the answers to denied calls. */
@NullMarked
package io.limiter.grpc;

import org.jspecify.annotations.NullMarked;
