package lockstorm.adapter;

import java.util.concurrent.Callable;

/** An adapter of a lock that does as a test says. */
class Scripted implements Adapter {
    volatile Callable<Grant> acquire = Grant::granted;
    volatile Callable<Release> release = Release::released;
    volatile Client client;
    volatile Target target;
    private final Abilities abilities;

    Scripted(Abilities abilities) {
        this.abilities = abilities;
    }

    @Override
    public Abilities open(Client client) {
        this.client = client;
        return abilities;
    }

    @Override
    public Grant acquire(Target target) throws Exception {
        this.target = target;
        return acquire.call();
    }

    @Override
    public Release release(Target target) throws Exception {
        return release.call();
    }
}
