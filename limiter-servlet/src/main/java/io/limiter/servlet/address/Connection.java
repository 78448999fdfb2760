package io.limiter.servlet.address;

import io.limiter.address.IpAddress;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
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
 * The TCP connection of a request, below everything that replaces the address of its peer: the wrappers of filters, and
 * what a container has read from a header.
 *
 * @param request the one of the container, with the headers that it shows
 * @param peer null if it can't be known
 * @param isHeaderUsed whether the container has replaced the address, and may have removed the header that it has read
 */
record Connection(HttpServletRequest request, @Nullable String peer, boolean isHeaderUsed) {
    private static final String TOMCAT = "org.apache.catalina.connector.RequestFacade";

    /** How to get from the request of a container to the peer: methods, and a field. The servlet API has no way. */
    private static final ClassValue<List<String>> WAYS = new ClassValue<>() {
        @Override
        protected List<String> computeValue(Class<?> type) {
            for (Class<?> one = type; one != null; one = one.getSuperclass()) {
                String name = one.getName();
                if (name.equals(TOMCAT)) {
                    return List.of("request", "getPeerAddr");
                } else if (name.matches("org\\.eclipse\\.jetty\\.ee[0-9]+\\.servlet\\.ServletApiRequest")) {
                    return List.of(
                            "getRequest",
                            "getConnectionMetaData",
                            "getConnection",
                            "getEndPoint",
                            "getRemoteSocketAddress");
                } else if (name.equals("io.undertow.servlet.spec.HttpServletRequestImpl")) {
                    return List.of("getExchange", "getConnection", "getPeerAddress");
                }
            }
            return List.of();
        }
    };

    private static final ClassValue<Map<String, AccessibleObject>> MEMBERS = new ClassValue<>() {
        @Override
        protected Map<String, AccessibleObject> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    static Connection of(HttpServletRequest request) {
        ServletRequest current = request;
        while (current instanceof ServletRequestWrapper wrapper) {
            current = wrapper.getRequest();
        }
        HttpServletRequest inner = current instanceof HttpServletRequest one ? one : request;
        if (request.getAttribute(ClientAddressResolver.PEER) instanceof String peer) {
            return new Connection(inner, peer, false);
        }
        String peer = text(followed(inner, WAYS.get(inner.getClass())));
        boolean used = inner.getClass().getName().equals(TOMCAT) && !isSame(peer, inner.getRemoteAddr());
        return new Connection(inner, peer, used);
    }

    /** Whether a valve of Tomcat may have read a header and removed it, even if it named the peer itself. */
    boolean isRead() {
        return request.getAttribute("org.apache.tomcat.request.forwarded") != null;
    }

    /** Whether an address is that of the peer. */
    boolean isOf(@Nullable String address) {
        return isSame(peer, address);
    }

    private static boolean isSame(@Nullable String peer, @Nullable String address) {
        if (peer == null || address == null) {
            return false;
        }
        IpAddress found = Node.address(peer, true);
        return peer.equals(address) || (found != null && Objects.equals(found, Node.address(address, true)));
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
        AccessibleObject member = name.startsWith("get") ? type.getMethod(name) : type.getDeclaredField(name);
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
