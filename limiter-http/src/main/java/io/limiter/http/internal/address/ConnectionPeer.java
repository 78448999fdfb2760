package io.limiter.http.internal.address;

import io.limiter.address.IpAddress;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the peer of a TCP connection from the request of a server. The servlet API has no way, and WebFlux shows what the server
 * has read from a header.
 */
public final class ConnectionPeer {
    private static final String TOMCAT = "org.apache.catalina.connector.RequestFacade";
    private static final String FIELD = "request";

    private static final String OF_JETTY = "getConnectionMetaData getConnection getEndPoint getRemoteSocketAddress";

    /** How to get from the request of a server, by its class, to the peer: methods, and a field. */
    private static final Map<String, String> KNOWN = Map.of(
            TOMCAT,
            FIELD + " getPeerAddr",
            "org.eclipse.jetty.ee.servlet.ServletApiRequest",
            "getRequest " + OF_JETTY,
            "org.eclipse.jetty.server.internal.HttpChannelState$ChannelRequest",
            OF_JETTY,
            "io.undertow.servlet.spec.HttpServletRequestImpl",
            "getExchange getConnection getPeerAddress",
            "io.undertow.server.HttpServerExchange",
            "getConnection getPeerAddress",
            "reactor.netty.http.server.HttpServerOperations",
            "connectionRemoteAddress");

    /** The way of a class, or of the one that it extends; empty if it is unknown. */
    private static final ClassValue<List<String>> WAYS = new ClassValue<>() {
        @Override
        protected List<String> computeValue(Class<?> type) {
            // Jetty has a package for each version of Jakarta EE.
            String way = KNOWN.get(type.getName().replaceFirst("[.]ee[0-9]+[.]", ".ee."));
            Class<?> above = type.getSuperclass();
            return way != null ? List.of(way.split(" ")) : above == null ? List.of() : get(above);
        }
    };

    private static final ClassValue<Map<String, AccessibleObject>> MEMBERS = new ClassValue<>() {
        @Override
        protected Map<String, AccessibleObject> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private ConnectionPeer() {}

    /** The address of the peer; null if it can't be known. */
    public static @Nullable String of(Object request) {
        return text(followed(request, WAYS.get(request.getClass())));
    }

    /** Whether it is Tomcat's, which can remove the header that it has read. */
    public static boolean isOfTomcat(Object request) {
        return request.getClass().getName().equals(TOMCAT);
    }

    /** Whether two texts are the address of one peer; not if one of them is missing. */
    public static boolean areSame(@Nullable String one, @Nullable String other) {
        if (one == null || other == null) {
            return false;
        }
        IpAddress found = Node.address(one, true);
        return one.equals(other) || (found != null && Objects.equals(found, Node.address(other, true)));
    }

    private static @Nullable Object followed(Object from, List<String> way) {
        Object current = from;
        try {
            for (String step : way) {
                if (current == null) {
                    return null;
                }
                AccessibleObject member = MEMBERS.get(current.getClass()).get(step);
                if (member == null) {
                    member = member(current.getClass(), step);
                    MEMBERS.get(current.getClass()).put(step, member);
                }
                current = member instanceof Field field ? field.get(current) : ((Method) member).invoke(current);
            }
            return current;
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            // Another version of the container, or one that a module keeps closed: the peer is unknown.
            return null;
        }
    }

    private static AccessibleObject member(Class<?> type, String name) throws ReflectiveOperationException {
        AccessibleObject member = name.equals(FIELD) ? type.getDeclaredField(name) : type.getMethod(name);
        member.setAccessible(true);
        return member;
    }

    private static @Nullable String text(@Nullable Object peer) {
        if (peer instanceof InetSocketAddress address) {
            return address.getAddress() == null ? null : address.getAddress().getHostAddress();
        }
        return peer instanceof String text && !text.isEmpty() ? text : null;
    }
}
