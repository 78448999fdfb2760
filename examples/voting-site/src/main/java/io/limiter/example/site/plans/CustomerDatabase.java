package io.limiter.example.site.plans;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The customers, in an H2 database in this JVM. A real application has its own DataSource. */
@Configuration(proxyBeanMethods = false)
class CustomerDatabase {
    private static final int LOGIN_SECONDS = 2;

    @Bean(destroyMethod = "dispose")
    JdbcConnectionPool customers() throws SQLException {
        JdbcConnectionPool pool = JdbcConnectionPool.create("jdbc:h2:mem:customers;DB_CLOSE_DELAY=-1", "sa", "");
        pool.setLoginTimeout(LOGIN_SECONDS);
        create(pool);
        return pool;
    }

    private static void create(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    "create table if not exists customer (api_key varchar primary key, plan varchar not null)");
            statement.execute(
                    "merge into customer values ('key-of-a-newspaper', 'partner'), ('key-of-a-student', 'free')");
        }
    }
}
