import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Checks that a folder in the form of a Maven repository has all that Maven Central demands of a release, and nothing else.
 *
 * <pre>java release/Check.java REPOSITORY VERSION [KEY] [--publish]</pre>
 *
 * With the file of a public key, each signature is verified. With --publish, addresses that are only examples are errors.
 */
public final class Check {
    /** Each published module, and the classifiers and types of its files besides the pom. */
    private static final Map<String, List<String>> MODULES = new TreeMap<>(Map.of(
            "limiter-bom", List.of("-cyclonedx.json"),
            "limiter-control", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-core", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-grpc", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-http", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-servlet", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-spring", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-spring-test", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-tools", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json"),
            "limiter-webflux", List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json")));

    private static final Map<String, String> CHECKSUMS = Map.of(".md5", "MD5", ".sha1", "SHA-1");
    private static final List<String> DEMANDED = List.of(
            "groupId",
            "artifactId",
            "version",
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "scm/connection",
            "scm/developerConnection",
            "scm/url");
    private static final List<String> UNWANTED =
            List.of("parent", "profiles", "build", "modules", "properties", "repositories", "distributionManagement");

    private final Path modules;
    private final String version;
    private final boolean publish;
    private final List<String> problems = new ArrayList<>();

    private Check(Path repository, String version, boolean publish) {
        this.modules = repository.resolve("io/limiter");
        this.version = version;
        this.publish = publish;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> given = new ArrayList<>(List.of(arguments));
        boolean publish = given.remove("--publish");
        Check check = new Check(Path.of(given.get(0)), given.get(1), publish);
        Path key = given.size() > 2 ? Path.of(given.get(2)) : null;
        boolean signed = key != null && Files.exists(key);
        check.run(signed);
        if (signed) {
            check.verifySignatures(key);
        } else if (publish) {
            check.problems.add("nothing is signed");
        }
        if (!check.problems.isEmpty()) {
            check.problems.forEach(System.err::println);
            System.exit(1);
        }
        System.out.println("complete" + (signed ? ", signatures verified" : ", not signed: there is no key"));
    }

    private void run(boolean signed) throws Exception {
        equal("modules", new TreeSet<>(MODULES.keySet()), list(modules, ""));
        for (Map.Entry<String, List<String>> module : MODULES.entrySet()) {
            String name = module.getKey();
            Path folder = modules.resolve(name).resolve(version);
            TreeSet<String> expected = new TreeSet<>();
            for (String suffix : Stream.concat(Stream.of(".pom"), module.getValue().stream()).toList()) {
                String file = name + "-" + version + suffix;
                expected.addAll(List.of(file, file + ".md5", file + ".sha1"));
                if (signed) {
                    expected.add(file + ".asc");
                }
            }
            TreeSet<String> found = list(folder, "maven-metadata");
            // Some versions of Maven write checksums of signatures, which nobody demands.
            found.removeIf(file -> file.matches(".*\\.asc\\.\\w+"));
            equal(name, expected, found);
            System.out.println(name + ": " + found.size() + " files");
            for (String file : found) {
                System.out.printf("  %8d %s%n", Files.size(folder.resolve(file)), file);
                checkFile(folder.resolve(file));
            }
            checkPom(folder.resolve(name + "-" + version + ".pom"));
        }
    }

    private void checkFile(Path file) throws Exception {
        String name = file.getFileName().toString();
        for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
            if (name.endsWith(checksum.getKey())) {
                Path of = file.resolveSibling(name.substring(0, name.length() - checksum.getKey().length()));
                byte[] bytes = Files.exists(of) ? Files.readAllBytes(of) : new byte[0];
                byte[] digest = MessageDigest.getInstance(checksum.getValue()).digest(bytes);
                demand(Files.readString(file).strip().equals(HexFormat.of().formatHex(digest)), name + " does not match");
            }
        }
        if (name.endsWith(".jar") && Files.size(file) > 0) {
            try (ZipFile jar = new ZipFile(file.toFile())) {
                for (String entry : List.of("META-INF/LICENSE", "META-INF/NOTICE")) {
                    demand(jar.getEntry(entry) != null, name + " has no " + entry);
                }
                if (name.endsWith(version + ".jar")) {
                    String manifest = new String(jar.getInputStream(jar.getEntry("META-INF/MANIFEST.MF")).readAllBytes());
                    demand(manifest.contains("Automatic-Module-Name: io.limiter."), name + " has no module name");
                }
            }
        }
        if (name.endsWith("-cyclonedx.json")) {
            String text = Files.readString(file);
            demand(text.contains("\"bomFormat\" : \"CycloneDX\""), name + " is no SBOM");
            demand(text.contains("pkg:maven/io.limiter/"), name + " does not name its component");
        }
    }

    private void checkPom(Path file) throws Exception {
        Element pom = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
        String name = file.getFileName().toString();
        for (String path : DEMANDED) {
            Node node = pom;
            for (String step : path.split("/")) {
                node = node == null ? null : child(node, step);
            }
            demand(node != null && !node.getTextContent().isBlank(), name + " has no " + path);
        }
        for (String element : UNWANTED) {
            demand(child(pom, element) == null, name + " has " + element);
        }
        String text = Files.readString(file);
        demand(!text.contains("${"), name + " has a property");
        demand(!text.contains("SNAPSHOT"), name + " has a snapshot");
        demand(!text.contains("<scope>test</scope>") && !text.contains("test-jar"), name + " has dependencies of tests");
        demand(!publish || !text.contains(".example"), name + ": set project.home in release/pom.xml");
        Node managed = child(pom, "dependencyManagement");
        boolean bom = name.startsWith("limiter-bom");
        demand(bom == (managed != null), name + (bom ? " manages nothing" : " manages dependencies"));
        if (bom && managed != null) {
            NodeList ids = ((Element) managed).getElementsByTagName("artifactId");
            TreeSet<String> names = new TreeSet<>();
            for (int i = 0; i < ids.getLength(); i++) {
                names.add(ids.item(i).getTextContent());
            }
            TreeSet<String> expected = new TreeSet<>(MODULES.keySet());
            expected.remove("limiter-bom");
            equal("the BOM", expected, names);
        }
    }

    private void verifySignatures(Path key) throws Exception {
        Path home = Files.createTempDirectory("gpg");
        try {
            gpg(home, "--import", key.toString());
            try (Stream<Path> files = Files.walk(modules)) {
                for (Path signature : files.filter(file -> file.toString().endsWith(".asc")).toList()) {
                    String signed = signature.toString().replaceFirst("\\.asc$", "");
                    demand(gpg(home, "--verify", signature.toString(), signed) == 0, signature + " does not verify");
                }
            }
        } finally {
            try (Stream<Path> files = Files.walk(home)) {
                files.sorted(java.util.Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            }
        }
    }

    private static int gpg(Path home, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("gpg", "--batch", "--quiet", "--no-autostart"));
        command.addAll(List.of("--homedir", home.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private static TreeSet<String> list(Path folder, String without) throws IOException {
        if (!Files.isDirectory(folder)) {
            return new TreeSet<>();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> without.isEmpty() || !name.startsWith(without))
                    .collect(java.util.stream.Collectors.toCollection(TreeSet::new));
        }
    }

    private void equal(String what, TreeSet<String> expected, TreeSet<String> found) {
        TreeSet<String> missing = new TreeSet<>(expected);
        missing.removeAll(found);
        TreeSet<String> unwanted = new TreeSet<>(found);
        unwanted.removeAll(expected);
        demand(missing.isEmpty(), what + ": missing " + missing);
        demand(unwanted.isEmpty(), what + ": not expected " + unwanted);
    }

    private void demand(boolean met, String problem) {
        if (!met) {
            problems.add(problem);
        }
    }

    private static Node child(Node node, String name) {
        for (Node child = node.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (name.equals(child.getNodeName())) {
                return child;
            }
        }
        return null;
    }
}
