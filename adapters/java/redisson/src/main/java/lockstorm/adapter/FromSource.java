package lockstorm.adapter;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** Java's own network channels, but each connects from the address that `open` named. */
public final class FromSource extends SelectorProvider {
    /** Null until it is known. */
    static volatile String source;

    private final SelectorProvider own;

    public FromSource() throws ReflectiveOperationException {
        Class<?> standard = Class.forName("sun.nio.ch.DefaultSelectorProvider");
        own = (SelectorProvider) standard.getMethod("get").invoke(null);
    }

    private static SocketChannel bound(SocketChannel channel) throws IOException {
        return source == null ? channel : channel.bind(new InetSocketAddress(source, 0));
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return bound(own.openSocketChannel());
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return bound(own.openSocketChannel(family));
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        return own.openDatagramChannel();
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        return own.openDatagramChannel(family);
    }

    @Override
    public Pipe openPipe() throws IOException {
        return own.openPipe();
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        return own.openSelector();
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return own.openServerSocketChannel();
    }
}
