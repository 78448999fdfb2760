package io.limiter.example.vote;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Exports the votes as a file for a spreadsheet: {@code GET /api/export}. */
@WebServlet("/api/export")
public final class ExportServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/csv");
        response.setCharacterEncoding("UTF-8");
        response.setHeader("Content-Disposition", "attachment; filename=\"votes.csv\"");
        response.getWriter()
                .write("choice,votes\r\ntea," + Tally.VOTES.tea() + "\r\ncoffee," + Tally.VOTES.coffee() + "\r\n");
    }
}
