import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceInstanceBuilder;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.apache.curator.x.discovery.details.ServiceCacheListener;

/**
 * The registries of services of a peer. These are their commands:
 *
 * discovery-open NAME BASE map|void|details compatible|enabled
 *     ok. The payloads of NAME are maps or Details, or there are none. It writes
 *     as Java does by default, or writes the field enabled, too.
 * discovery-register NAME SERVICE ID ADDRESS PORT [KEY=VALUE...]
 *     ok. The keys are sslPort, enabled, uri, zone and city. The last two make a
 *     payload.
 * discovery-unregister NAME ID
 *     ok
 * discovery-query NAME SERVICE
 *     ok INSTANCE..., in the order of their ids. An instance is
 *     ID|ADDRESS|PORT|SSL-PORT|ENABLED|TYPE|PAYLOAD|URI.
 * discovery-cache NAME SERVICE
 *     ok, when a ServiceCache has been filled
 * discovery-cached SERVICE MS ID=ADDRESS...
 *     ok EVENTS, when a listener of the cache has found these instances and no
 *     others, or an error after that time. EVENTS is how often it was called so
 *     far.
 * discovery-fill NAME N
 *     ok NANOSECONDS INSTANCES BYTES: the time in which the ServiceCaches of the
 *     services s0 to sN-1 were filled, one after the other, the number of their
 *     instances, and the memory that all of them take
 * discovery-events MS N
 *     ok EVENTS, when the listeners of all caches were called N times together, or
 *     an error after that time
 */
class Discovery {
    private static final Map<String, Class<?>> PAYLOADS =
        Map.of("map", Map.class, "void", Void.class, "details", Details.class);

    private final CuratorFramework client;
    private final Map<String, ServiceDiscovery<Object>> opened = new ConcurrentHashMap<>();
    private final Map<String, ServiceInstance<Object>> registered = new ConcurrentHashMap<>();
    private final Map<String, Watched> watched = new ConcurrentHashMap<>();

    Discovery(CuratorFramework client) {
        this.client = client;
    }

    String obey(String[] words) throws Exception {
        String name = words[2];
        switch (words[1]) {
            case "discovery-open":
                opened.put(name, open(words[3], PAYLOADS.get(words[4]), words[5].equals("compatible")));
                return "ok";
            case "discovery-register":
                ServiceInstance<Object> instance = instance(words);
                registered.put(instance.getId(), instance);
                opened.get(name).registerService(instance);
                return "ok";
            case "discovery-unregister":
                opened.get(name).unregisterService(registered.remove(words[3]));
                return "ok";
            case "discovery-query":
                return "ok " + opened.get(name).queryForInstances(words[3]).stream()
                    .map(Discovery::text).sorted().collect(Collectors.joining(" "));
            case "discovery-cache":
                watched.put(words[3], new Watched(opened.get(name), words[3]));
                return "ok";
            case "discovery-cached":
                return "ok " + watched.get(name).await(Long.parseLong(words[3]),
                    Set.of(Arrays.copyOfRange(words, 4, words.length)));
            case "discovery-fill":
                return fill(opened.get(name), Integer.parseInt(words[3]));
            case "discovery-events":
                return "ok " + events(Long.parseLong(words[2]), Integer.parseInt(words[3]));
            default:
                return "error no such command: " + words[1];
        }
    }

    /** Ends what the commands have left. */
    void close() throws Exception {
        for (Watched cache : watched.values()) {
            cache.cache.close();
        }
        for (ServiceDiscovery<Object> discovery : opened.values()) {
            discovery.close();
        }
    }

    @SuppressWarnings("unchecked") // payloads of any class are objects
    private ServiceDiscovery<Object> open(String base, Class<?> payload, boolean compatible) throws Exception {
        ServiceDiscovery<Object> discovery = ServiceDiscoveryBuilder.builder(Object.class)
            .client(client)
            .basePath(base)
            .serializer(new JsonInstanceSerializer<>((Class<Object>) payload, compatible))
            .build();
        discovery.start();
        return discovery;
    }

    private String fill(ServiceDiscovery<Object> discovery, int services) throws Exception {
        long before = Nodes.usedMemory();
        long start = System.nanoTime();
        long instances = 0;
        for (int i = 0; i < services; i++) {
            Watched one = new Watched(discovery, "s" + i);
            watched.put("s" + i, one);
            instances += one.cache.getInstances().size();
        }
        long took = System.nanoTime() - start;
        return "ok " + took + " " + instances + " " + (Nodes.usedMemory() - before);
    }

    private int events(long ms, int wanted) throws InterruptedException, TimeoutException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (true) {
            int events = watched.values().stream().mapToInt(Watched::events).sum();
            if (events >= wanted) {
                return events;
            }
            if (System.nanoTime() > end) {
                throw new TimeoutException("there were " + events + " events");
            }
            Thread.sleep(5);
        }
    }

    private static ServiceInstance<Object> instance(String[] words) throws Exception {
        ServiceInstanceBuilder<Object> builder = ServiceInstance.builder()
            .name(words[3]).id(words[4]).address(words[5]).port(Integer.parseInt(words[6]));
        for (String option : Arrays.copyOfRange(words, 7, words.length)) {
            String[] parts = option.split("=", 2);
            switch (parts[0]) {
                case "sslPort":
                    builder.sslPort(Integer.parseInt(parts[1]));
                    break;
                case "enabled":
                    builder.enabled(Boolean.parseBoolean(parts[1]));
                    break;
                case "uri":
                    builder.uriSpec(new UriSpec(parts[1]));
                    break;
                case "city":
                    builder.payload(new Details(parts[1]));
                    break;
                default:
                    builder.payload(new HashMap<>(Map.of(parts[0], parts[1])));
            }
        }
        return builder.build();
    }

    private static String text(ServiceInstance<Object> i) {
        return List.of(i.getId(), i.getAddress(), i.getPort(), String.valueOf(i.getSslPort()), i.isEnabled(),
            i.getServiceType(), String.valueOf(i.getPayload()), String.valueOf(i.buildUriSpec()))
            .stream().map(String::valueOf).collect(Collectors.joining("|"));
    }

    /** A payload that is an object of its class. */
    public static class Details {
        public String city;

        public Details() {
        }

        Details(String city) {
            this.city = city;
        }

        @Override
        public String toString() {
            return "in-" + city;
        }
    }

    /** A cache, and what its listener has found. */
    private static class Watched implements ServiceCacheListener {
        final ServiceCache<Object> cache;
        private int events;
        private Set<String> found;

        Watched(ServiceDiscovery<Object> discovery, String service) throws Exception {
            cache = discovery.serviceCacheBuilder().name(service).build();
            cache.addListener(this);
            cache.start();
            synchronized (this) {
                found = instances();
            }
        }

        @Override
        public synchronized void cacheChanged() {
            events++;
            found = instances();
            notifyAll();
        }

        @Override
        public void stateChanged(CuratorFramework client, ConnectionState state) {
        }

        synchronized int events() {
            return events;
        }

        /** Returns how often the listener was called, when it has found what is wanted. */
        synchronized int await(long ms, Set<String> wanted) throws InterruptedException, TimeoutException {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            while (!found.equals(wanted)) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    throw new TimeoutException("there is " + found + ", and not " + wanted);
                }
                wait(left);
            }
            return events;
        }

        private Set<String> instances() {
            return cache.getInstances().stream()
                .map(i -> i.getId() + "=" + i.getAddress()).collect(Collectors.toSet());
        }
    }
}
