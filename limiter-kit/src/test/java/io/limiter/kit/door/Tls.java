package io.limiter.kit.door;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** Certificates of 127.0.0.1 that this JVM has made for itself, and clients that trust every one. */
public final class Tls {
    public static final String PASSWORD = "secret";
    private static final Path STORE = make();

    private Tls() {}

    /** A file of type PKCS12. */
    public static Path store() {
        return STORE;
    }

    /** Another file with a key, and a certificate that it signed itself. */
    public static Path make() {
        try {
            Path file = Files.createTempDirectory("limiter-tls").resolve("keys.p12");
            file.getParent().toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            String command = Path.of(System.getProperty("java.home"), "bin", "keytool")
                    + " -J-XX:TieredStopAtLevel=1 -genkeypair -alias h -dname CN=h -ext san=ip:127.0.0.1 -validity 2 -keyalg EC -groupname secp256r1"
                    + " -storetype PKCS12 -storepass " + PASSWORD + " -keystore " + file;
            int end = new ProcessBuilder(command.split(" "))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
            if (end != 0) {
                throw new IllegalStateException("keytool ended with " + end);
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The certificate and the key of such a file, as text. */
    public static String pem(Path file) throws GeneralSecurityException, IOException {
        KeyStore store = load(file);
        return block("CERTIFICATE", store.getCertificate("h").getEncoded())
                + block("PRIVATE KEY", store.getKey("h", PASSWORD.toCharArray()).getEncoded());
    }

    private static String block(String name, byte[] content) {
        String text = Base64.getMimeEncoder().encodeToString(content);
        return "-----BEGIN " + name + "-----\n" + text + "\n-----END " + name + "-----\n";
    }

    private static KeyStore load(Path file) throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    /** What a server needs. */
    public static KeyManagerFactory keys() throws GeneralSecurityException, IOException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(STORE), PASSWORD.toCharArray());
        return keys;
    }

    /** A connection to a server that must choose this protocol (ALPN). */
    public static SSLSocket connect(int port, String protocol) throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            SSLSocket socket =
                    (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {protocol});
            socket.setSSLParameters(parameters);
            socket.setTcpNoDelay(true);
            socket.startHandshake();
            String chosen = socket.getApplicationProtocol();
            // Without a choice it is HTTP/1.1.
            if (!protocol.equals(chosen.isEmpty() ? "http/1.1" : chosen)) {
                throw new IOException("the server has chosen '" + chosen + "'");
            }
            return socket;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
