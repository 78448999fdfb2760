package io.limiter.servlet;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.OptionalLong;

/** The bodies that the standard answer can have, the one that we would rather send first. */
enum BodyForm {
    PROBLEM_JSON("application/problem+json") {
        @Override
        String of(Rejection rejection) {
            boolean outage = rejection.isOutage();
            StringBuilder json = new StringBuilder(256)
                    .append("{\"type\":\"https://iana.org/assignments/http-problem-types#")
                    .append(outage ? "temporary-reduced-capacity" : "quota-exceeded")
                    .append("\",\"title\":\"")
                    .append(outage ? "Temporary Reduced Capacity" : "Quota Exceeded")
                    .append("\",\"status\":")
                    .append(rejection.status())
                    .append(",\"detail\":\"")
                    .append(when(rejection))
                    .append("\",\"violated-policies\":[");
            List<String> names = rejection.violatedPolicies();
            for (int i = 0; i < names.size(); i++) {
                json.append(i == 0 ? "" : ",");
                JsonText.quote(names.get(i), json);
            }
            return json.append("]}").toString();
        }
    },
    TEXT("text/plain;charset=utf-8") {
        @Override
        String of(Rejection rejection) {
            return what(rejection) + ". " + when(rejection) + "\n";
        }
    },
    HTML("text/html;charset=utf-8") {
        @Override
        String of(Rejection rejection) {
            String what = what(rejection);
            return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
                    + what + "</title>\n</head>\n<body>\n<h1>" + what + "</h1>\n<p>" + when(rejection)
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
    abstract String of(Rejection rejection);

    static BodyForm wantedBy(HttpServletRequest request) {
        return AcceptedForms.of(request.getHeaders("Accept")).best();
    }

    private static String what(Rejection rejection) {
        return rejection.isOutage() ? "Service unavailable" : "Too many requests";
    }

    private static String when(Rejection rejection) {
        OptionalLong seconds = rejection.retryAfterSeconds();
        if (seconds.isEmpty()) {
            return "This request is not allowed, now or later.";
        }
        return "Try again in " + seconds.getAsLong() + (seconds.getAsLong() == 1 ? " second." : " seconds.");
    }
}
