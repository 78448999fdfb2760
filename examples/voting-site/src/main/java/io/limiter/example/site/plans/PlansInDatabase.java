package io.limiter.example.site.plans;

import io.limiter.rule.PlanResolver;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Finds the plan of an API key. The rule {@code limiter.rules.export} names it as {@code plan}. */
@Component
public class PlansInDatabase implements PlanResolver {
    private static final int LONGEST_SECONDS = 2;

    private final DataSource database;

    PlansInDatabase(DataSource database) {
        this.database = database;
    }

    /** Called rarely, on threads of the limiter: its results are cached. */
    @Override
    public @Nullable String plan(String apiKey) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement query = connection.prepareStatement("select plan from customer where api_key = ?")) {
            query.setQueryTimeout(LONGEST_SECONDS);
            query.setString(1, apiKey);
            try (ResultSet found = query.executeQuery()) {
                return found.next() ? found.getString(1) : null;
            }
        }
    }
}
