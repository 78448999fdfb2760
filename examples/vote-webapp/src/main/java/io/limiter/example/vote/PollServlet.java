package io.limiter.example.vote;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** The poll as a page of its own: {@code GET /poll}. */
@WebServlet("/poll")
public final class PollServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/html");
        response.setCharacterEncoding("UTF-8");
        response.getWriter().write("""
                        <!doctype html>
                        <html lang="en">
                        <head>
                          <meta charset="utf-8">
                          <meta name="viewport" content="width=device-width, initial-scale=1">
                          <title>Tea or coffee?</title>
                          <link rel="icon" href="data:,">
                          <link rel="stylesheet" href="page.css">
                        </head>
                        <body>
                          <main>
                            <h1>Tea or coffee?</h1>
                            <p>Tea has %d votes, coffee has %d.</p>
                            <p><a href="./">Back</a></p>
                          </main>
                        </body>
                        </html>
                        """.formatted(Tally.VOTES.tea(), Tally.VOTES.coffee()));
    }
}
