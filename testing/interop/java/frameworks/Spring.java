import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryClient;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ServiceInstanceRegistration;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistry;

/**
 * Spring Cloud Zookeeper's own reader and writer. These are the commands:
 *
 * spring-open BASE
 *     ok
 * spring-register SERVICE ID HOST PORT KEY=VALUE...
 *     ok. The words are metadata.
 * spring-status ID STATUS
 *     ok
 * spring-deregister ID
 *     ok
 * spring-query SERVICE
 *     ok INSTANCE..., in the order of their ids. An instance is
 *     ID|HOST|PORT|SECURE|URI|KEY=VALUE,...
 */
public class Spring implements Registry {
    private final CuratorFramework client;
    private final Map<String, ServiceInstanceRegistration> registered = new ConcurrentHashMap<>();
    private ServiceDiscovery<ZookeeperInstance> discovery;
    private ZookeeperServiceRegistry writer;
    private ZookeeperDiscoveryClient reader;

    public Spring(CuratorFramework client) {
        this.client = client;
    }

    @Override
    public synchronized String obey(String[] words) {
        switch (words[1]) {
            case "spring-open":
                discovery = ServiceDiscoveryBuilder.builder(ZookeeperInstance.class)
                    .client(client).basePath(words[2]).build();
                writer = new ZookeeperServiceRegistry(discovery);
                writer.afterSingletonsInstantiated();
                reader = new ZookeeperDiscoveryClient(discovery, null, null);
                return "ok";
            case "spring-register":
                registered.put(words[3], instance(words));
                writer.register(registered.get(words[3]));
                return "ok";
            case "spring-status":
                writer.setStatus(registered.get(words[2]), words[3]);
                return "ok";
            case "spring-deregister":
                writer.deregister(registered.remove(words[2]));
                return "ok";
            case "spring-query":
                return "ok " + reader.getInstances(words[2]).stream()
                    .map(Spring::text).sorted().collect(Collectors.joining(" "));
            default:
                return "error no such command: " + words[1];
        }
    }

    @Override
    public synchronized void close() throws Exception {
        if (discovery != null) {
            discovery.close();
        }
    }

    private static ServiceInstanceRegistration instance(String[] words) {
        return ServiceInstanceRegistration.builder().defaultUriSpec()
            .name(words[2]).id(words[3]).address(words[4]).port(Integer.parseInt(words[5]))
            .payload(new ZookeeperInstance("application-1", words[2], pairs(words, 6)))
            .build();
    }

    /** The words from one on, as keys and values in their order. */
    static Map<String, String> pairs(String[] words, int from) {
        Map<String, String> all = new LinkedHashMap<>();
        for (String word : Arrays.copyOfRange(words, from, words.length)) {
            String[] parts = word.split("=", 2);
            all.put(parts[0], parts[1]);
        }
        return all;
    }

    /** Pairs as one word, ordered by their keys. */
    static String text(Map<String, String> pairs) {
        return new TreeMap<>(pairs).entrySet().stream()
            .map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining(","));
    }

    private static String text(ServiceInstance i) {
        return List.of(i.getInstanceId(), i.getHost(), i.getPort(), i.isSecure(), i.getUri(), text(i.getMetadata()))
            .stream().map(String::valueOf).collect(Collectors.joining("|"));
    }
}
