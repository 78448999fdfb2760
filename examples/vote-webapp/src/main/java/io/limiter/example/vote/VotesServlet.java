package io.limiter.example.vote;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Takes a vote: {@code POST /api/votes?for=tea}. */
@WebServlet("/api/votes")
public final class VotesServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String choice = request.getParameter("for");
        response.setContentType("application/json");
        response.setCharacterEncoding("UTF-8");
        if (choice != null && Tally.VOTES.vote(choice)) {
            response.getWriter().write(Tally.VOTES.toJson());
        } else {
            response.setStatus(HttpServletResponse.SC_BAD_REQUEST);
            response.getWriter().write("{\"error\":\"vote for tea or for coffee: /api/votes?for=tea\"}");
        }
    }
}
