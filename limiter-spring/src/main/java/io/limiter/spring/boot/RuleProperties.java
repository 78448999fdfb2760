package io.limiter.spring.boot;

import java.util.List;

/** The properties below {@code limiter.rules.<name>}: a policy's properties for limits of its own, and these. */
abstract class RuleProperties extends PolicyProperties {
    /** The paths that it matches: {@code /login}, {@code /api/*}, {@code /users/{id}}; every path is {@code /*}. */
    public abstract List<String> getPath();

    public abstract void setPath(List<String> path);

    /** The registered HTTP methods that it matches, or ext:NAME for another one; all unless set. */
    public abstract List<String> getMethods();

    public abstract void setMethods(List<String> methods);

    /** Only for requests with these headers: {@code X-Api-Key}, or {@code X-Kind=batch} for that value. */
    public abstract List<String> getHeaders();

    public abstract void setHeaders(List<String> headers);

    /** Only for requests with these parameters in their query: {@code debug}, or {@code format=csv} for that value. */
    public abstract List<String> getQuery();

    public abstract void setQuery(List<String> query);

    /** Paths that the rule does not count: {@code /health}, {@code /static/*}. */
    public abstract List<String> getExcept();

    public abstract void setExcept(List<String> except);

    /** Callers that the rule does not count. */
    public abstract CallerProperties getExempt();

    public abstract void setExempt(CallerProperties exempt);

    /** Whether it applies only to requests that no other rule matches; false unless set. */
    public abstract Boolean getDefault();

    public abstract void setDefault(Boolean isDefault);

    /** Whether it only counts and reports what it would deny; false unless set. */
    public abstract Boolean getShadow();

    public abstract void setShadow(Boolean shadow);

    /** Whether it is enabled; true unless set. */
    public abstract Boolean getEnabled();

    public abstract void setEnabled(Boolean enabled);

    /** The key, which selects the quota: {@code ip} (unless set), {@code user}, {@code session}, {@code bearer}, {@code header:Name}, {@code cookie:name}, {@code query:name}, {@code path:variable}, joined by {@code " + "}, or {@code global}, or {@code class:com.example.ByTenant}. */
    public abstract String getKey();

    public abstract void setKey(String key);

    /** The policy that it charges; instead of limits of its own. */
    public abstract String getPolicy();

    public abstract void setPolicy(String policy);

    /** The bits of an IPv6 address that identify a client; {@code limiter.client-ip.ipv6-prefix} unless set. */
    public abstract Integer getIpv6Prefix();

    public abstract void setIpv6Prefix(Integer ipv6Prefix);

    /** Where it is decided: {@code before-authentication} or {@code after-authentication}; unless set, where the key is known. */
    public abstract String getPosition();

    public abstract void setPosition(String position);

    /** Only responses with these outcomes count, such as {@code 401, 403, 5xx, header:Location=*error*}; for others the charge is refunded. */
    public abstract List<String> getCountOn();

    public abstract void setCountOn(List<String> countOn);

    /** Responses for which the charge is refunded, by outcomes such as {@code 304}, written like those of {@code count-on}. */
    public abstract List<String> getRefundOn();

    public abstract void setRefundOn(List<String> refundOn);

    /** How many permits a request costs; 1 unless set: a number, {@code header:X-Batch-Size}, or a class that implements {@code io.limiter.rule.Cost}. */
    public abstract String getCost();

    public abstract void setCost(String cost);

    /** The maximum of a cost in a header; required with it. */
    public abstract Long getMaxCost();

    public abstract void setMaxCost(Long maxCost);

    /** The source of a caller's plan, which has the limits: {@code header:X-Plan}, {@code user:plan}, or the class of a bean that implements {@code io.limiter.rule.PlanResolver}. */
    public abstract String getPlan();

    public abstract void setPlan(String plan);

    /** The plan of callers without one; required with plans. */
    public abstract String getDefaultPlan();

    public abstract void setDefaultPlan(String defaultPlan);

    /** The member of a request, such as {@code header:X-User}, if the policy counts members; written like a key. */
    public abstract String getMember();

    public abstract void setMember(String member);

    /** How long a request that the rule denies is held until its permits are due, such as {@code 500ms}, at most {@code 1m}; not at all unless set. */
    public abstract String getWait();

    public abstract void setWait(String wait);
}
