import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
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
 * discovery-open NAME BASE map|void compatible|enabled
 *     ok. The payloads of NAME are maps, or there are none. It writes as Java
 *     does by default, or writes the field enabled, too.
 * discovery-register NAME SERVICE ID ADDRESS PORT [KEY=VALUE...]
 *     ok. The keys are sslPort, enabled, uri and zone. The last one makes a
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
 *     others, or timeout. EVENTS is how often listeners have been called so far.
 */
class Discovery {
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
                opened.put(name, open(words[3], words[4].equals("map") ? Map.class : Void.class,
                    words[5].equals("compatible")));
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
                return watched.get(name).await(Long.parseLong(words[3]),
                    Set.of(Arrays.copyOfRange(words, 4, words.length)));
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

        synchronized String await(long ms, Set<String> wanted) throws InterruptedException {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            while (!found.equals(wanted)) {
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (left <= 0) {
                    System.err.println("there is " + found + ", and not " + wanted);
                    return "timeout";
                }
                wait(left);
            }
            return "ok " + events;
        }

        private Set<String> instances() {
            return cache.getInstances().stream()
                .map(i -> i.getId() + "=" + i.getAddress()).collect(Collectors.toSet());
        }
    }
}
