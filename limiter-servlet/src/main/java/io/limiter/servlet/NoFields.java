package io.limiter.servlet;

import io.limiter.Decision;

/** Says nothing of quotas. */
final class NoFields implements QuotaFields {
    @Override
    public void add(Decision decision, AnswerSoFar answer, ResponseFields response) {}

    @Override
    public String names() {
        return "";
    }
}
