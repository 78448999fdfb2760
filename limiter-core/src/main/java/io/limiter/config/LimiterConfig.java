package io.limiter.config;

import io.limiter.Policy;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Everything that is configured, by text or in code. Immutable; made whole or not at all.
 *
 * <pre>{@code
 * LimiterConfig.load(file).with(List.of(sms), List.of(RuleDefinition.of("login", perAddress, "/login")))
 * }</pre>
 *
 * @param enabled whether anything is limited
 * @param backend where the state is
 * @param redis how to reach Redis; its defaults where the backend is in-process
 * @param inProcess the bounds of the state in this JVM
 * @param instances how many instances share the limits, for the local fallback
 * @param clientIp where the address of a client is found
 * @param http how HTTP responses show a decision, and how requests are matched with rules
 * @param callers callers that are exempt or denied under all rules
 * @param policies all policies by name, also those of the rules, in the order of the text
 * @param rules the rules in the order of the text, each with a name of its own
 * @param plans the plans of callers
 * @param denials what is recorded about denied calls
 * @param jmx the name under which JMX shows the limiter; null for none
 * @param reload whether and how it is read again
 */
public record LimiterConfig(
        boolean enabled,
        BackendKind backend,
        RedisSettings redis,
        InProcessSettings inProcess,
        long instances,
        ClientIpSettings clientIp,
        HttpSettings http,
        CallerSettings callers,
        Map<String, Policy> policies,
        List<RuleDefinition> rules,
        PlanSettings plans,
        DenialSettings denials,
        @Nullable String jmx,
        ReloadSettings reload) {
    /**
     * Checks that all parts fit together, copies the collections, and adds the policies of the rules.
     *
     * @throws ConfigException if two rules have one name, or two policies, or the number of instances is out of range
     */
    public LimiterConfig {
        Problems problems = new Problems();
        problems.range("limiter.instances", instances, 1, 1_000_000);
        problems.on("limiter.jmx.name", jmx)
                .must(
                        jmx == null || jmx.matches("[A-Za-z0-9][A-Za-z0-9 ._/-]{0,99}"),
                        "not a name for JMX; write up to 100 letters, digits, spaces and . _ / - such as shop");
        Map<String, Policy> all = ConfiguredPolicies.of(policies.values(), rules, problems);
        callers.exempt().check(problems, "limiter.exempt.", clientIp);
        rules.forEach(
                rule -> rule.scope().exempt().check(problems, Group.RULES.start + rule.name() + ".exempt.", clientIp));
        problems.throwIfAny();
        policies = Collections.unmodifiableMap(all);
        rules = List.copyOf(rules);
    }

    /**
     * A configuration in code: the state is in this JVM, and the rest has defaults.
     *
     * @param policies those that are used by name; those of the rules need not be among them
     * @throws ConfigException if two rules have one name, or two different policies
     */
    public static LimiterConfig of(Collection<Policy> policies, Collection<RuleDefinition> rules) {
        return builder().build().with(policies, rules);
    }

    /**
     * The same configuration with further policies and rules, made in code.
     *
     * @throws ConfigException if two rules have one name, or two different policies
     */
    public LimiterConfig with(Collection<Policy> morePolicies, Collection<RuleDefinition> moreRules) {
        Map<String, Policy> all = new LinkedHashMap<>(policies);
        morePolicies.forEach(policy -> Problems.refuseIf(
                all.put(policy.name(), policy) != null,
                "there are two policies '" + policy.name() + "'; rename one of the two"));
        List<RuleDefinition> allRules = new ArrayList<>(rules);
        allRules.addAll(moreRules);
        ReloadSettings inCode = reload.changedInCode();
        return new LimiterConfig(
                enabled, backend, redis, inProcess, instances, clientIp, http, callers, all, allRules, plans, denials,
                jmx, inCode);
    }

    /**
     * Settings because of which requests are not counted, not denied, or denied because of others: sentences that begin
     * with a code of docs/diagnostics.md.
     */
    public List<String> uncounted() {
        return Uncounted.of(this);
    }

    /** The differences in another configuration: sentences that begin with a code of docs/diagnostics.md. */
    public List<String> changes(LimiterConfig next) {
        return Changes.of(this, next);
    }

    /** Where the state is. */
    public enum BackendKind {
        /** In this JVM: {@code in-process}. */
        IN_PROCESS,
        /** In Redis: {@code redis}. */
        REDIS
    }

    /**
     * Reads a properties file (UTF-8); environment variables of this process override it. A limiter can read it again.
     *
     * @throws ConfigException if the text has mistakes: one message lists them all
     * @throws IOException if the file can't be read
     */
    public static LimiterConfig load(Path file) throws IOException {
        Builder text = builder().file(file).environment(System.getenv());
        return text.readAgain(List.of(file), () -> load(file)).build();
    }

    /**
     * All keys in their canonical spelling; {@code <name>} is the name of a policy or a rule. For code that reads,
     * completes or checks properties itself.
     */
    public static List<String> keys() {
        return Binder.keys();
    }

    /** A builder that takes text from several sources. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects text, then makes a configuration. A later source overrides an earlier one. Not thread-safe. */
    public static final class Builder {
        private final List<ConfigEntry> entries = new ArrayList<>();
        private final Problems problems = new Problems();
        private final Set<String> otherKeys = new LinkedHashSet<>();
        private Map<String, String> environment = Map.of();
        private boolean hasClient;
        private ReloadSettings origin = ReloadSettings.NONE;
        private @Nullable ClassLoader classes;

        private Builder() {}

        /**
         * Adds a properties file (UTF-8).
         *
         * @throws IOException if it can't be read
         */
        public Builder file(Path file) throws IOException {
            return file(String.valueOf(file.getFileName()), file);
        }

        /**
         * Adds a properties file (UTF-8) under another name.
         *
         * @param source its name in messages
         * @throws IOException if it can't be read
         */
        public Builder file(String source, Path file) throws IOException {
            InputStream bytes = new ByteArrayInputStream(ReloadSettings.content(file));
            // An explicit decoder reports text that is not UTF-8; with only the charset's name, such bytes would be
            // replaced.
            return text(source, new InputStreamReader(bytes, StandardCharsets.UTF_8.newDecoder()));
        }

        /**
         * Adds properties text.
         *
         * @param source its name in messages
         * @throws IOException if it can't be read
         */
        public Builder text(String source, Reader text) throws IOException {
            entries.addAll(PropertiesText.read(source, text, problems));
            return this;
        }

        /**
         * Adds single properties, such as the init-params of a web.xml.
         *
         * @param source their name in messages
         */
        public Builder properties(String source, Map<String, String> properties) {
            properties.forEach((key, value) -> property(source, 0, key, value));
            return this;
        }

        /**
         * Adds one property, read by the caller.
         *
         * @param source the name of its place in messages
         * @param line the line there, from 1; 0 where there are no lines
         */
        public Builder property(String source, int line, String key, String value) {
            entries.add(new ConfigEntry(source, line, key, value.strip()));
            return this;
        }

        /**
         * Notes a mistake that the caller has found in a property, to report it with all others. Further mistakes in
         * that property are not reported.
         *
         * @param source the name of its place in messages
         * @param line the line there, from 1; 0 where there are no lines
         * @param text a code of docs/diagnostics.md, what is wrong, and what to do
         */
        public Builder mistake(String source, int line, String key, String text) {
            problems.addFirst(source, line, key, text);
            return this;
        }

        /** The caller's own keys: they are accepted, ignored here, and suggested for similar unknown keys. */
        public Builder otherKeys(Collection<String> keys) {
            otherKeys.addAll(keys);
            return this;
        }

        /**
         * Whether the caller has a Redis client, for {@link io.limiter.application.Limiter#start(LimiterConfig,
         * io.limiter.Backend)}: then the backend is Redis without an address, unless {@code limiter.backend} is set.
         */
        public Builder findBackend(boolean hasClient) {
            this.hasClient = hasClient;
            return this;
        }

        /** Reports classes in the text that this loader does not find; null for no such check. */
        public Builder classes(@Nullable ClassLoader loader) {
            classes = loader;
            return this;
        }

        /**
         * Environment variables override everything: {@code LIMITER_REDIS_ADDRESS} is
         * {@code limiter.redis.address}, and {@code LIMITER_REDIS_STARTUP_WAIT} or, as Spring Boot writes it,
         * {@code LIMITER_REDIS_STARTUPWAIT} is {@code limiter.redis.startup-wait}. Variables that match no key, or are
         * empty, are ignored; those that look like settings are logged.
         */
        public Builder environment(Map<String, String> variables) {
            this.environment = Map.copyOf(variables);
            return this;
        }

        /**
         * How to read all of this again, for {@code limiter.reload} and {@link io.limiter.application.Limiter#reload}.
         *
         * @param files the files to watch for changes; empty if there are none on this machine
         * @param again reads everything again, or throws the mistakes. Called by one thread at a time
         */
        public Builder readAgain(List<Path> files, Callable<LimiterConfig> again) {
            origin = new ReloadSettings(null, files, again, Set.of(), null);
            return this;
        }

        /**
         * The configuration.
         *
         * @throws ConfigException if the text has mistakes: one message lists them all
         */
        public LimiterConfig build() {
            List<ConfigEntry> all = new ArrayList<>(entries);
            all.addAll(EnvironmentText.entries(environment, entries, otherKeys, problems));
            if (classes != null) {
                MissingClasses.note(all, classes, problems);
            }
            return new Binder(all, problems, hasClient, origin).bind(otherKeys);
        }
    }
}
