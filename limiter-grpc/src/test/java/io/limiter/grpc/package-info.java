@org.jspecify.annotations.NullMarked
package io.limiter.grpc;
