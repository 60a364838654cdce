package lockstorm.adapter.jdbc;

import com.zaxxer.hikari.HikariDataSource;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Client;
import lockstorm.adapter.Server;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

import java.time.Duration;

import javax.sql.DataSource;

/**
 * Connections to databases by HikariCP, as Spring Boot makes them. The patience with a server is the
 * scenario's, and connections are made as they are needed: those of a pool that fills itself would
 * go on beside the calls that a run looks at.
 */
public final class Databases {
    /** The shortest time for a connection that the pool takes, in milliseconds. */
    private static final long CONNECT_MS_MIN = 250;

    /** Most statements of one call, each of which may wait for a connection. */
    private static final int STATEMENTS = 4;

    private Databases() {}

    /** Tells whether the servers of a client are those of a database. */
    public static boolean have(Client client) {
        return isMariadb(client) || client.topology().equals("postgres");
    }

    /** Tells whether they are MariaDB's. */
    public static boolean isMariadb(Client client) {
        return client.topology().equals("mariadb");
    }

    /**
     * Connects to the server that takes writes, and creates a table that is not there. The
     * statement has to say that it may be: of two clients that create it at once PostgreSQL refuses
     * one.
     */
    public static DataSource with(Client client, String table) {
        DataSource pool = pool(client);
        JdbcTemplate template = new JdbcTemplate(pool);
        try {
            template.execute(table);
        } catch (DataAccessException another) {
            template.execute(table);
        }
        return pool;
    }

    /**
     * Says what all libraries over these connections can do: to answer as soon as it takes to
     * connect, and for all their statements.
     */
    public static Abilities abilities(Client client) {
        // PostgreSQL's driver counts its patience in seconds.
        Duration one = Duration.ofMillis(connectMs(client)).plusSeconds(1);
        return new Abilities().answersWithin(one.multipliedBy(STATEMENTS)).warmUp();
    }

    private static HikariDataSource pool(Client client) {
        Server server = client.onlyServer();
        long patienceMs = client.patience().toMillis();
        HikariDataSource pool = new HikariDataSource();
        pool.setUsername("lockstorm");
        pool.setConnectionTimeout(connectMs(client));
        pool.setMinimumIdle(1);
        if (isMariadb(client)) {
            pool.setJdbcUrl("jdbc:mariadb://" + server.address() + "/lockstorm");
            pool.addDataSourceProperty("socketTimeout", String.valueOf(patienceMs));
        } else {
            pool.setJdbcUrl("jdbc:postgresql://" + server.address() + "/postgres");
            long seconds = Math.max(1, Math.round(patienceMs / 1000.0));
            pool.addDataSourceProperty("socketTimeout", String.valueOf(seconds));
        }
        return pool;
    }

    private static long connectMs(Client client) {
        return Math.max(CONNECT_MS_MIN, client.patience().toMillis());
    }
}
