package io.limiter.servlet;

import io.limiter.Decision;
import jakarta.servlet.http.HttpServletResponse;

/** Says nothing of quotas. */
final class NoFields implements QuotaFields {
    @Override
    public void add(Decision decision, ChargedOnce charged, HttpServletResponse response) {}

    @Override
    public String names() {
        return "";
    }
}
