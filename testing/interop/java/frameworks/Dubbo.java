import java.util.List;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.registry.client.DefaultServiceInstance;
import org.apache.dubbo.registry.client.ServiceInstance;
import org.apache.dubbo.registry.zookeeper.ZookeeperInstance;
import org.apache.dubbo.registry.zookeeper.util.CuratorFrameworkUtils;
import org.apache.dubbo.rpc.model.ApplicationModel;
import org.apache.zookeeper.CreateMode;

/**
 * What Dubbo's registries make of nodes, by Dubbo's own classes. These are the
 * commands:
 *
 * dubbo-open BASE
 *     ok
 * dubbo-register APPLICATION HOST PORT KEY=VALUE...
 *     ok. The words are metadata.
 * dubbo-query APPLICATION
 *     ok INSTANCE..., in order. An instance is HOST|PORT|ENABLED|KEY=VALUE,...
 * dubbo-provide BASE URL
 *     ok. It makes the node of a provider, as a registry of interfaces does.
 * dubbo-providers BASE INTERFACE
 *     ok PROVIDER..., in order. A provider is
 *     PROTOCOL|HOST|PORT|INTERFACE|GROUP|VERSION.
 */
public class Dubbo implements Registry {
    private final CuratorFramework client;
    private ServiceDiscovery<ZookeeperInstance> discovery;

    public Dubbo(CuratorFramework client) {
        this.client = client;
    }

    @Override
    public synchronized String obey(String[] words) throws Exception {
        switch (words[1]) {
            case "dubbo-open":
                discovery = CuratorFrameworkUtils.buildServiceDiscovery(client, words[2]);
                discovery.start();
                return "ok";
            case "dubbo-register":
                DefaultServiceInstance instance = new DefaultServiceInstance(
                    words[2], words[3], Integer.parseInt(words[4]), ApplicationModel.defaultModel());
                instance.setMetadata(Spring.pairs(words, 5));
                discovery.registerService(CuratorFrameworkUtils.build(instance));
                return "ok";
            case "dubbo-query":
                return "ok " + CuratorFrameworkUtils
                    .build(URL.valueOf("zookeeper://127.0.0.1:2181"), discovery.queryForInstances(words[2])).stream()
                    .map(Dubbo::text).sorted().collect(Collectors.joining(" "));
            case "dubbo-provide":
                URL provider = URL.valueOf(words[3]);
                client.create().creatingParentsIfNeeded().withMode(CreateMode.EPHEMERAL)
                    .forPath(path(words[2], provider.getServiceInterface()) + "/" + URL.encode(provider.toFullString()));
                return "ok";
            case "dubbo-providers":
                return "ok " + client.getChildren().forPath(path(words[2], words[3])).stream()
                    .map(name -> text(URL.valueOf(URL.decode(name)))).sorted().collect(Collectors.joining(" "));
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

    private static String path(String base, String service) {
        return base + "/" + URL.encode(service) + "/providers";
    }

    private static String text(ServiceInstance i) {
        return List.of(i.getHost(), i.getPort(), i.isEnabled(), Spring.text(i.getMetadata()))
            .stream().map(String::valueOf).collect(Collectors.joining("|"));
    }

    private static String text(URL url) {
        return List.of(url.getProtocol(), url.getHost(), url.getPort(), url.getServiceInterface(),
                url.getGroup(""), url.getVersion(""))
            .stream().map(String::valueOf).collect(Collectors.joining("|"));
    }
}
