import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.zookeeper.CreateMode;

/**
 * The caches, persistent nodes and group members of a peer. These are their
 * commands:
 *
 * node-write PATH DATA
 *     ok. It creates the node with its parents, or sets its data.
 * node-delete PATH
 *     ok. It deletes what is below the node, too.
 * node-cache NAME PATH
 *     ok, when a CuratorCache has been filled
 * node-cached NAME MS PATH=DATA...
 *     ok, when the cache has these nodes and no others, or timeout
 * node-measure PATH
 *     ok NANOSECONDS NODES BYTES: the time in which a CuratorCache was filled, the
 *     number of its nodes, and the memory that all of them take
 * node-keep NAME PATH DATA
 *     ok, when an ephemeral PersistentNode has created its node, or found one
 * node-set NAME DATA
 *     ok
 * node-close NAME
 *     ok
 * node-join NAME PATH ID DATA
 *     ok. It starts a GroupMember.
 * node-members NAME MS ID=DATA...
 *     ok, when the group has these members and no others, or timeout
 * node-leave NAME
 *     ok
 */
class Nodes {
    private final CuratorFramework client;
    private final Map<String, CuratorCache> caches = new ConcurrentHashMap<>();
    private final Map<String, PersistentNode> kept = new ConcurrentHashMap<>();
    private final Map<String, GroupMember> joined = new ConcurrentHashMap<>();

    Nodes(CuratorFramework client) {
        this.client = client;
    }

    String obey(String[] words) throws Exception {
        String name = words[2];
        switch (words[1]) {
            case "node-write":
                client.create().orSetData().creatingParentsIfNeeded().forPath(name, bytes(words[3]));
                return "ok";
            case "node-delete":
                client.delete().deletingChildrenIfNeeded().forPath(name);
                return "ok";
            case "node-cache":
                return openCache(name, words[3]);
            case "node-cached":
                return await(words, () -> cached(caches.get(name)));
            case "node-measure":
                return measure(name);
            case "node-keep":
                return keep(name, words[3], bytes(words[4]));
            case "node-set":
                kept.get(name).setData(bytes(words[3]));
                return "ok";
            case "node-close":
                kept.remove(name).close();
                return "ok";
            case "node-join":
                GroupMember member = new GroupMember(client, words[3], words[4], bytes(words[5]));
                joined.put(name, member);
                member.start();
                return "ok";
            case "node-members":
                return await(words, () -> members(joined.get(name)));
            case "node-leave":
                joined.remove(name).close();
                return "ok";
            default:
                return "error no such command: " + words[1];
        }
    }

    /** Ends what the commands have left. */
    void close() throws Exception {
        caches.values().forEach(CuratorCache::close);
        joined.values().forEach(GroupMember::close);
        for (PersistentNode node : kept.values()) {
            node.close();
        }
    }

    private String openCache(String name, String path) throws Exception {
        CuratorCache cache = CuratorCache.build(client, path);
        caches.put(name, cache);
        return fill(cache) ? "ok" : "timeout";
    }

    private static boolean fill(CuratorCache cache) throws InterruptedException {
        CountDownLatch filled = new CountDownLatch(1);
        cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(filled::countDown).build());
        cache.start();
        return filled.await(60, TimeUnit.SECONDS);
    }

    private String measure(String path) throws Exception {
        long before = usedMemory();
        try (CuratorCache cache = CuratorCache.build(client, path)) {
            long start = System.nanoTime();
            if (!fill(cache)) {
                return "timeout";
            }
            long took = System.nanoTime() - start;
            long used = usedMemory() - before;
            return "ok " + took + " " + cache.size() + " " + used;
        }
    }

    /** The memory that is in use after a collection of garbage. */
    static long usedMemory() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private String keep(String name, String path, byte[] data) throws Exception {
        PersistentNode node = new PersistentNode(client, CreateMode.EPHEMERAL, false, path, data);
        kept.put(name, node);
        node.start();
        return node.waitForInitialCreate(60, TimeUnit.SECONDS) ? "ok" : "timeout";
    }

    private static Set<String> cached(CuratorCache cache) {
        return cache.stream().map(n -> n.getPath() + "=" + text(n.getData())).collect(Collectors.toSet());
    }

    private static Set<String> members(GroupMember member) {
        return member.getCurrentMembers().entrySet().stream()
            .map(m -> m.getKey() + "=" + text(m.getValue())).collect(Collectors.toSet());
    }

    /** A group tells nobody of its changes, so this asks for what there is again and again. */
    private static String await(String[] words, Supplier<Set<String>> there) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[3]));
        Set<String> wanted = Stream.of(Arrays.copyOfRange(words, 4, words.length)).collect(Collectors.toSet());
        while (!there.get().equals(wanted)) {
            if (System.nanoTime() > end) {
                System.err.println("there is " + there.get() + ", and not " + wanted);
                return "timeout";
            }
            Thread.sleep(5);
        }
        return "ok";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] data) {
        return data == null ? "" : new String(data, StandardCharsets.UTF_8);
    }
}
