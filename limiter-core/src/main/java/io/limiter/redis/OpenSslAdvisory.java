package io.limiter.redis;

import io.netty.handler.ssl.SslContext;
import io.netty.util.Version;
import java.lang.module.ModuleDescriptor;

/**
 * CVE-2026-62243: with OpenSSL, these versions of Netty can accept a certificate of another host. Redisson verifies host names
 * by default, and brings such a version, so an application has to replace it.
 */
final class OpenSslAdvisory {
    private static final String FIRST_FIXED = "4.1.137";
    private static final String FIRST_FIXED_OF_42 = "4.2.17";

    private OpenSslAdvisory() {}

    /** The version of Netty that runs the TLS of Redisson, such as 4.2.16.Final, or "unknown". */
    static String nettyVersion() {
        Version version = Version.identify(SslContext.class.getClassLoader()).get("netty-handler");
        return version == null ? "unknown" : version.artifactVersion();
    }

    /** Whether a version is affected. One that can't be read counts as affected. */
    static boolean concerns(String version) {
        try {
            String fixed = version.startsWith("4.2.") ? FIRST_FIXED_OF_42 : FIRST_FIXED;
            return ModuleDescriptor.Version.parse(version).compareTo(ModuleDescriptor.Version.parse(fixed)) < 0;
        } catch (IllegalArgumentException unreadable) {
            return true;
        }
    }

    static String message(String version) {
        return "RL-149 this Redisson client has sslProvider = OPENSSL, and with that netty " + version
                + " may accept the certificate of another host (CVE-2026-62243); add netty 4.2.17 or newer (4.1.137 of netty 4.1),"
                + " or set sslProvider = JDK";
    }
}
