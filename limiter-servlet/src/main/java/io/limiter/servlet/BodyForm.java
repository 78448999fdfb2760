package io.limiter.servlet;

import java.util.List;
import java.util.OptionalLong;

/** The bodies that the standard answer can have, the one that we would rather send first. */
enum BodyForm {
    PROBLEM_JSON("application/problem+json") {
        @Override
        String of(HttpDenial denial) {
            boolean outage = denial.isOutage();
            StringBuilder json = new StringBuilder(256)
                    .append("{\"type\":\"https://iana.org/assignments/http-problem-types#")
                    .append(outage ? "temporary-reduced-capacity" : "quota-exceeded")
                    .append("\",\"title\":\"")
                    .append(outage ? "Temporary Reduced Capacity" : "Quota Exceeded")
                    .append("\",\"status\":")
                    .append(denial.status())
                    .append(",\"detail\":\"")
                    .append(when(denial))
                    .append("\",\"violated-policies\":[");
            List<String> names = denial.violatedPolicies();
            for (int i = 0; i < names.size(); i++) {
                json.append(i == 0 ? "" : ",");
                JsonText.quote(names.get(i), json);
            }
            return json.append("]}").toString();
        }
    },
    TEXT("text/plain;charset=utf-8") {
        @Override
        String of(HttpDenial denial) {
            return what(denial) + ". " + when(denial) + "\n";
        }
    },
    HTML("text/html;charset=utf-8") {
        @Override
        String of(HttpDenial denial) {
            String what = what(denial);
            return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
                    + what + "</title>\n</head>\n<body>\n<h1>" + what + "</h1>\n<p>" + when(denial)
                    + "</p>\n</body>\n</html>\n";
        }
    };

    private final String contentType;

    BodyForm(String contentType) {
        this.contentType = contentType;
    }

    String contentType() {
        return contentType;
    }

    /** The body: ASCII only, and nothing in it that the client has sent. */
    abstract String of(HttpDenial denial);

    private static String what(HttpDenial denial) {
        return denial.isOutage() ? "Service unavailable" : "Too many requests";
    }

    private static String when(HttpDenial denial) {
        OptionalLong seconds = denial.retryAfterSeconds();
        if (seconds.isEmpty()) {
            return "This request is not allowed, now or later.";
        }
        return "Try again in " + seconds.getAsLong() + (seconds.getAsLong() == 1 ? " second." : " seconds.");
    }
}
