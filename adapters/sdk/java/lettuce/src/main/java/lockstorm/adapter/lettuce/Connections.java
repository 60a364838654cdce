package lockstorm.adapter.lettuce;

import io.lettuce.core.SocketOptions;

import lockstorm.adapter.Abilities;
import lockstorm.adapter.Client;
import lockstorm.adapter.Sentinels;
import lockstorm.adapter.Server;
import lockstorm.adapter.UnsupportedException;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Connections to servers by Lettuce, as Spring Boot makes them: one for all threads, on which what
 * was sent before it broke is sent again. Only the patience with a server is the scenario's.
 */
public final class Connections {
    /** Most commands of one call, as where a server does not know a new one. */
    private static final int COMMANDS = 4;

    private Connections() {}

    /**
     * Connects to the servers that a client is told.
     *
     * @throws UnsupportedException if there is not one server that takes writes, a sentinel's or a
     *     Cluster
     */
    public static LettuceConnectionFactory of(Client client) {
        LettuceClientConfiguration patience =
                LettuceClientConfiguration.builder().commandTimeout(client.patience()).build();
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(servers(client), patience);
        connections.start();
        return connections;
    }

    /**
     * Says what all libraries over these connections can do: to give a call up, and to answer as
     * soon as it takes to connect anew, and for all its commands.
     */
    public static Abilities abilities(Client client) {
        Duration connect = SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION;
        Duration commands = client.patience().multipliedBy(COMMANDS);
        return new Abilities().cancels().answersWithin(connect.plus(commands)).warmUp();
    }

    private static RedisConfiguration servers(Client client) {
        switch (client.topology()) {
            case "sentinel":
                Sentinels watch = client.sentinels().orElseThrow();
                return new RedisSentinelConfiguration(watch.master(), addresses(watch.sentinels()));
            case "cluster":
                return new RedisClusterConfiguration(addresses(client.nodes()));
            default:
                Server server = client.onlyServer();
                return new RedisStandaloneConfiguration(server.host(), server.port());
        }
    }

    private static Set<String> addresses(List<Server> servers) {
        return servers.stream().map(Server::address).collect(Collectors.toSet());
    }
}
