import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.DefaultACLProvider;
import org.apache.curator.framework.imps.ProtectedUtils;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * A peer has one Curator client and obeys commands.
 *
 * The process has one peer if its arguments are SERVERS SESSION-MS. The peer
 * reads commands on stdin and answers on stdout. The end of stdin ends the
 * process, so that it does not outlive its parent.
 *
 * With the system property peer.private, its nodes are for it alone.
 *
 * Without arguments the process is a host of many peers. It prints the port on
 * which it listens. Each connection is a peer, and begins with the line SERVERS
 * SESSION-MS, or SERVERS SESSION-MS CLASS-PATH: then the peer's classes are those
 * of the class path, and of no other. The end of the commands ends the peer's
 * session and then the connection. The end of stdin ends the process.
 *
 * Each command is a line: a number and the command. Each command gets one line
 * when it is done: its number and "ok ...", "timeout" or "error ...". The line
 * with number 0 says that the client has a session.
 *
 * acquire NAME PATH MS [KIND]
 *     ok NODE CZXID, or timeout
 * release NAME [NODE]
 *     ok. Without NODE it releases the lock that was acquired last.
 * participants PATH [KIND]
 *     ok NODE...
 * revoke NODE
 *     ok
 * await-revocation NAME MS
 *     ok, when the revocable lock is to be given up, or timeout
 * lead NAME PATH latch|selector [HOST PORT]
 *     ok. NAME is the candidate's id. With HOST and PORT the candidate enters
 *     the checker there while it leads, and competes again afterwards.
 * await-leadership NAME MS
 *     ok, or timeout
 * leader NAME
 *     ok ID, the leader as the candidate sees it
 * candidates NAME
 *     ok ID..., all candidates as this one sees them, the leader first
 * resign NAME
 *     ok
 * count PATH
 *     ok VALUE
 * count-set PATH VALUE [EXPECTED]
 *     ok, or error if the count is not EXPECTED
 * count-await PATH VALUE MS
 *     ok, when listeners have received the value, or timeout
 * value PATH, value-set PATH VALUE [EXPECTED], value-await PATH VALUE MS
 *     the same for a SharedValue, whose value is a word
 * protection NODE-NAME
 *     ok UUID NAME, the two parts of a protected name
 * kill-session [ID PASSWORD]
 *     ok, when the server has ended that session, or else this client's
 * hold-cycle NAME PATH HOST PORT MS KIND WEIGHT
 *     ok CYCLES. For MS it acquires, enters and leaves the checker at HOST and
 *     PORT, and releases.
 * barrier ...
 *     See Barriers.java.
 * bench PATH CLIENTS PATHS THREADS shared|apart CYCLES
 *     ok NANOSECONDS, the time of a round of the crowd: see Crowd.java
 * scenario NAME PATH TIMES
 *     ok NANOSECONDS: see Scenarios.java
 * atomic-get TYPE PATH
 *     ok VALUE. TYPE is long, int or value: see Atomics.java
 * atomic-set TYPE PATH VALUE
 *     ok
 * atomic-swap TYPE PATH OLD NEW
 *     ok true, or ok false if it is not OLD
 * atomic-count long PATH THREADS TIMES [LOCK-PATH]
 *     ok NANOSECONDS. Each thread increments the same number that often.
 * node-...
 *     a command of caches, persistent nodes and groups: see Nodes.java
 * discovery-...
 *     a command of registries of services: see Discovery.java
 * spring-..., dubbo-...
 *     a command of theirs: see the folder frameworks
 *
 * KIND is one of these:
 *
 * mutex, revocable, read, write, semaphore-mutex
 * lease-N       one lease of N
 * lease-N-Q     Q leases of N; NODE is the last lease's
 * lease-shared  one lease; the limit is the count at PATH-limit
 *
 * Curator's locks belong to threads. So each NAME is a thread, which runs its
 * commands one after the other. Leadership belongs to objects, so in these
 * commands NAME is a candidate.
 */
public class Peer {
    private static final Map<String, ClassLoader> loaders = new HashMap<>();

    private final String servers;
    private final int sessionMs;
    private final PrintStream answers;
    private final CuratorFramework client;
    private final Map<String, Contender> contenders = new HashMap<>();
    private final Map<String, Candidate> candidates = new ConcurrentHashMap<>();
    private final Map<String, SharedCount> counts = new ConcurrentHashMap<>();
    private final Values values;
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();
    private final Barriers barriers;
    private final Nodes nodes;
    private final Discovery discovery;
    private final Map<String, Registry> frameworks = new HashMap<>(); // by the names of their classes
    private Crowd crowd; // made by the first bench command
    private Scenarios scenarios; // made by the first scenario
    private final ExecutorService waits = Executors.newCachedThreadPool();

    private Peer(String servers, int sessionMs, PrintStream answers) {
        this.servers = servers;
        this.sessionMs = sessionMs;
        this.answers = answers;
        this.client = CuratorFrameworkFactory.builder()
            .connectString(servers).sessionTimeoutMs(sessionMs).connectionTimeoutMs(sessionMs)
            .retryPolicy(new ExponentialBackoffRetry(50, 10))
            .aclProvider(Boolean.getBoolean("peer.private") ? new PrivateACLs() : new DefaultACLProvider())
            .build();
        this.values = new Values(client);
        this.barriers = new Barriers(client);
        this.nodes = new Nodes(client);
        this.discovery = new Discovery(client);
    }

    /** Makes nodes for the client that creates them alone. */
    private static final class PrivateACLs extends DefaultACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            host();
        } else {
            new Peer(args[0], Integer.parseInt(args[1]), System.out).obey(lines(System.in));
        }
        System.exit(0); // contenders may still wait
    }

    private static BufferedReader lines(InputStream in) {
        return new BufferedReader(new InputStreamReader(in));
    }

    /** Serves peers until the end of stdin. */
    private static void host() throws IOException {
        ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread(() -> {
            while (true) {
                try {
                    Socket connection = listener.accept();
                    new Thread(() -> serve(connection)).start();
                } catch (IOException e) {
                    System.err.println("cannot accept a peer: " + e);
                }
            }
        });
        acceptor.start();
        System.out.println(listener.getLocalPort());
        while (System.in.read() >= 0) {
        }
    }

    /** Runs a peer until its connection ends. */
    private static void serve(Socket connection) {
        try (Socket socket = connection) {
            socket.setTcpNoDelay(true);
            BufferedReader commands = lines(socket.getInputStream());
            String[] args = commands.readLine().split(" ", 3);
            Class<?> peer = args.length > 2 ? classesOf(args[2]).loadClass("Peer") : Peer.class;
            Thread.currentThread().setContextClassLoader(peer.getClassLoader());
            peer.getMethod("serve", String.class, int.class, BufferedReader.class, PrintStream.class)
                .invoke(null, args[0], Integer.parseInt(args[1]), commands,
                    new PrintStream(socket.getOutputStream(), true));
        } catch (Exception e) {
            System.err.println("a peer has failed: " + e);
        }
    }

    /** Runs a peer with the classes of its loader until the commands end. */
    public static void serve(String servers, int sessionMs, BufferedReader commands, PrintStream answers)
            throws IOException {
        new Peer(servers, sessionMs, answers).obey(commands);
    }

    /** Returns the classes of a class path, which all peers with that path share. */
    private static synchronized ClassLoader classesOf(String classPath) throws IOException {
        ClassLoader known = loaders.get(classPath);
        if (known == null) {
            List<URL> parts = new ArrayList<>();
            for (String part : classPath.split(File.pathSeparator)) {
                parts.add(new File(part).toURI().toURL());
            }
            known = new URLClassLoader(parts.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            loaders.put(classPath, known);
        }
        return known;
    }

    /**
     * Waits until a thread has nothing to do. One that goes over listeners also calls
     * those that are added meanwhile.
     */
    private static boolean waits(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        return true;
    }

    /** Obeys the commands until they end, and then ends the session. */
    private void obey(BufferedReader commands) throws IOException {
        // A registry that is opened before all listeners have heard of the connection
        // registers its instances again when it learns that, even if another client has their IDs.
        CountDownLatch connected = new CountDownLatch(1);
        AtomicReference<Thread> tells = new AtomicReference<>();
        client.getConnectionStateListenable().addListener((c, state) -> {
            tells.set(Thread.currentThread());
            connected.countDown();
        });
        client.start();
        run("0", () -> connected.await(60, TimeUnit.SECONDS) && waits(tells.get()) ? "ok" : "error no connection");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            dispatch(line.split(" "));
        }
        if (crowd != null) {
            crowd.close();
        }
        if (scenarios != null) {
            scenarios.close();
        }
        candidates.keySet().forEach(this::resign);
        try {
            nodes.close();
            discovery.close();
            for (Registry framework : frameworks()) {
                framework.close();
            }
        } catch (Exception e) {
            System.err.println("a node or a registry cannot be closed: " + e);
        }
        client.close();
        waits.shutdownNow();
        contenders.values().forEach(contender -> contender.thread.shutdownNow());
    }

    /**
     * Commands that may wait for a lock run on the contender's thread, so that
     * the reader of stdin never waits.
     */
    private void dispatch(String[] words) {
        String subject = words.length > 2 ? words[2] : "";
        switch (words[1]) {
            case "acquire":
            case "release":
            case "await-revocation":
            case "hold-cycle":
                Contender contender = contenders.computeIfAbsent(subject, name -> new Contender());
                contender.thread.execute(() -> run(words[0], () -> contender.obey(words)));
                break;
            case "participants":
                String kind = words.length > 3 ? words[3] : "mutex";
                run(words[0], () -> "ok " + String.join(" ", participants(subject, kind)));
                break;
            case "revoke":
                run(words[0], () -> {
                    Revoker.attemptRevoke(client, subject);
                    return "ok";
                });
                break;
            case "lead":
            case "await-leadership":
            case "leader":
            case "candidates":
            case "resign":
                waits.execute(() -> run(words[0], () -> lead(words[1], subject, words)));
                break;
            case "count":
            case "count-set":
            case "count-await":
                waits.execute(() -> run(words[0], () -> count(words[1], shared(subject), words)));
                break;
            case "value":
            case "value-set":
            case "value-await":
                waits.execute(() -> run(words[0], () -> values.obey(words)));
                break;
            case "barrier":
                waits.execute(() -> run(words[0], () -> barriers.obey(words)));
                break;
            case "bench":
                int cycles = Integer.parseInt(words[7]);
                waits.execute(() -> run(words[0], () -> "ok " + crowd(words).round(cycles)));
                break;
            case "scenario":
                waits.execute(() -> run(words[0],
                    () -> "ok " + scenarios().run(subject, words[3], Integer.parseInt(words[4]))));
                break;
            case "atomic-get":
            case "atomic-set":
            case "atomic-swap":
            case "atomic-count":
                waits.execute(() -> run(words[0], () -> new Atomics(client).obey(words)));
                break;
            case "protection":
                run(words[0], () -> protection(subject));
                break;
            case "kill-session":
                run(words[0], () -> words.length > 3
                    ? killSession(Long.parseLong(words[2]), words[3])
                    : killSession());
                break;
            default:
                waits.execute(() -> run(words[0], () -> others(words)));
        }
    }

    private String others(String[] words) throws Exception {
        switch (words[1].split("-")[0]) {
            case "discovery":
                return discovery.obey(words);
            case "spring":
                return framework("Spring").obey(words);
            case "dubbo":
                return framework("Dubbo").obey(words);
            default:
                return nodes.obey(words);
        }
    }

    private Registry framework(String name) throws Exception {
        synchronized (frameworks) {
            Registry known = frameworks.get(name);
            if (known == null) {
                known = (Registry) Class.forName(name).getConstructor(CuratorFramework.class).newInstance(client);
                frameworks.put(name, known);
            }
            return known;
        }
    }

    private Collection<Registry> frameworks() {
        synchronized (frameworks) {
            return new ArrayList<>(frameworks.values());
        }
    }

    private synchronized Crowd crowd(String[] words) {
        if (crowd == null) {
            crowd = new Crowd(servers, sessionMs, words[2],
                Integer.parseInt(words[3]), Integer.parseInt(words[4]),
                Integer.parseInt(words[5]), words[6].equals("apart"));
        }
        return crowd;
    }

    private synchronized Scenarios scenarios() {
        if (scenarios == null) {
            scenarios = new Scenarios(servers, sessionMs);
        }
        return scenarios;
    }

    private void run(String number, Callable<String> command) {
        String result;
        try {
            result = command.call();
        } catch (Exception e) {
            result = "error " + e.toString().replaceAll("\\s+", " ");
        }
        answers.println(number + " " + result);
    }

    private Collection<String> participants(String path, String kind) throws Exception {
        return kind.startsWith("lease-")
            ? semaphore(path, kind).getParticipantNodes()
            : lock(path, kind).getParticipantNodes();
    }

    private InterProcessMutex lock(String path, String kind) {
        switch (kind) {
            case "mutex":
            case "revocable":
                return new InterProcessMutex(client, path);
            case "read":
                return readWriteLock(path).readLock();
            case "write":
                return readWriteLock(path).writeLock();
            default:
                throw new IllegalArgumentException("no such kind of lock: " + kind);
        }
    }

    /**
     * A holder can change from writing to reading only if both sides come from
     * the same object.
     */
    private InterProcessReadWriteLock readWriteLock(String path) {
        return readWriteLocks.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
    }

    private InterProcessSemaphoreV2 semaphore(String path, String kind) throws Exception {
        String limit = kind.split("-")[1];
        return limit.equals("shared")
            ? new InterProcessSemaphoreV2(client, path, shared(path + "-limit"))
            : new InterProcessSemaphoreV2(client, path, Integer.parseInt(limit));
    }

    private String lead(String command, String name, String[] words) throws Exception {
        if (command.equals("lead")) {
            LeaderChecker checker = words.length > 5
                ? new LeaderChecker(name, words[5], Integer.parseInt(words[6]))
                : null;
            candidates.put(name, words[4].equals("latch")
                ? new LatchCandidate(words[3], name, checker)
                : new SelectorCandidate(words[3], name, checker));
            return "ok";
        }
        if (command.equals("resign")) {
            candidates.remove(name).resign();
            return "ok";
        }
        Candidate candidate = candidates.get(name);
        switch (command) {
            case "await-leadership":
                return candidate.await(Long.parseLong(words[3])) ? "ok" : "timeout";
            case "leader":
                return "ok " + candidate.leader();
            default:
                return "ok " + candidate.all().stream()
                    .sorted(Comparator.comparing(Participant::isLeader).reversed())
                    .map(Participant::getId)
                    .collect(Collectors.joining(" "));
        }
    }

    /** Ends a candidacy that the commands have left, which would go on without a client. */
    private void resign(String name) {
        try {
            candidates.remove(name).resign();
        } catch (Exception e) {
            System.err.println(name + " cannot resign: " + e);
        }
    }

    /** A candidate for leadership, from its creation to its resignation. */
    private interface Candidate {
        boolean await(long ms) throws Exception;

        String leader() throws Exception;

        Collection<Participant> all() throws Exception;

        void resign() throws Exception;
    }

    private class LatchCandidate implements Candidate {
        private final LeaderLatch latch;
        private final LeaderChecker checker; // null without one
        private final ExecutorService listener = Executors.newSingleThreadExecutor();

        LatchCandidate(String path, String id, LeaderChecker checker) throws Exception {
            this.checker = checker;
            latch = new LeaderLatch(client, path, id);
            if (checker != null) {
                latch.addListener(follow(checker), listener);
            }
            latch.start();
        }

        private LeaderLatchListener follow(LeaderChecker checker) {
            return new LeaderLatchListener() {
                @Override
                public void isLeader() {
                    checker.enter(latch.getOurPath(), latch::hasLeadership);
                }

                @Override
                public void notLeader() {
                    checker.leave();
                }
            };
        }

        public boolean await(long ms) throws Exception {
            return latch.await(ms, TimeUnit.MILLISECONDS);
        }

        public String leader() throws Exception {
            return latch.getLeader().getId();
        }

        public Collection<Participant> all() throws Exception {
            return latch.getParticipants();
        }

        /** The latch tells its listeners nothing then. */
        public void resign() throws Exception {
            latch.close();
            if (checker != null) {
                listener.execute(checker::leave);
            }
            listener.shutdown();
        }
    }

    private class SelectorCandidate extends LeaderSelectorListenerAdapter implements Candidate {
        private final LeaderSelector selector;
        private final CountDownLatch leading = new CountDownLatch(1);
        private final CountDownLatch resigned = new CountDownLatch(1);
        private final LeaderChecker checker;

        SelectorCandidate(String path, String id, LeaderChecker checker) {
            this.checker = checker;
            selector = new LeaderSelector(client, path, this);
            selector.setId(id);
            if (checker != null) {
                selector.autoRequeue();
            }
            selector.start();
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws Exception {
            leading.countDown();
            try {
                if (checker != null) {
                    checker.enter(nodeOf(mutexOf(selector)), selector::hasLeadership);
                }
                resigned.await();
            } finally {
                if (checker != null) {
                    checker.leave();
                }
            }
        }

        public boolean await(long ms) throws Exception {
            return leading.await(ms, TimeUnit.MILLISECONDS);
        }

        public String leader() throws Exception {
            return selector.getLeader().getId();
        }

        public Collection<Participant> all() throws Exception {
            return selector.getParticipants();
        }

        /**
         * The selector is closed first. If it were not when takeLeadership
         * returns, it would stand once more, by autoRequeue.
         */
        public void resign() {
            selector.close();
            resigned.countDown();
        }
    }

    /** A candidate's connection to the checker, which allows one leader. */
    private class LeaderChecker {
        private final String id;
        private final String host;
        private final int port;
        private Socket connection;

        LeaderChecker(String id, String host, int port) {
            this.id = id;
            this.host = host;
            this.port = port;
        }

        /**
         * A failure here means that the leadership is lost. The candidate
         * learns that from Curator, too.
         */
        void enter(String node, BooleanSupplier leads) {
            try {
                Stat stat = stat(node);
                if (leads.getAsBoolean()) {
                    connection = new Socket(host, port);
                    String line = "enter " + id + " " + stat.getCzxid() + " " + stat.getEphemeralOwner() + "\n";
                    connection.getOutputStream().write(line.getBytes());
                    connection.getInputStream().read();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                System.err.println(id + " has lost its leadership: " + e);
            }
        }

        /**
         * Closes the connection, which is how a leader leaves, and waits until
         * the checker has closed it, too.
         */
        void leave() {
            try {
                if (connection != null) {
                    connection.shutdownOutput();
                    while (connection.getInputStream().read() >= 0) {
                    }
                    connection.close();
                }
            } catch (IOException e) {
                System.err.println(id + " cannot leave: " + e);
            }
            connection = null;
        }
    }

    private SharedCount shared(String path) throws Exception {
        SharedCount made = new SharedCount(client, path, 0);
        SharedCount count = counts.computeIfAbsent(path, p -> made);
        if (count == made) {
            count.start();
        }
        return count;
    }

    private String count(String command, SharedCount count, String[] words) throws Exception {
        switch (command) {
            case "count":
                return "ok " + count.getCount();
            case "count-set":
                int value = Integer.parseInt(words[3]);
                if (words.length == 4) {
                    count.setCount(value);
                    return "ok";
                }
                if (count.getCount() == Integer.parseInt(words[4])
                        && count.trySetCount(count.getVersionedValue(), value)) {
                    return "ok";
                }
                return "error it is " + count.getCount();
            default:
                return awaitCount(count, Integer.parseInt(words[3]), Long.parseLong(words[4]))
                    ? "ok"
                    : "timeout";
        }
    }

    private boolean awaitCount(SharedCount count, int value, long ms) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (count.getCount() != value) { // the value that its watch received
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(5);
        }
        return true;
    }

    private static String protection(String name) {
        return ProtectedUtils.isProtectedZNode(name)
            ? "ok " + ProtectedUtils.extractProtectedId(name).get() + " " + ProtectedUtils.normalize(name)
            : "error not a protected name: " + name;
    }

    /**
     * After the loss of a session, the handle of the next one has no id until
     * it is connected.
     */
    private String killSession() throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        ZooKeeper own = client.getZookeeperClient().getZooKeeper();
        while (own.getSessionId() == 0) {
            if (System.nanoTime() > end) {
                return "error no session";
            }
            Thread.sleep(5);
            own = client.getZookeeperClient().getZooKeeper();
        }
        return killSession(own.getSessionId(), Base64.getEncoder().encodeToString(own.getSessionPasswd()));
    }

    /**
     * A session ends on the server, and not only in its client's opinion, when
     * a second handle of it is closed. The client may take the session back
     * before that. So this repeats until the server says that there is no such
     * session.
     */
    private String killSession(long id, String password) throws Exception {
        for (int tries = 0; tries < 50; tries++) {
            BlockingQueue<KeeperState> states = new LinkedBlockingQueue<>();
            ZooKeeper second = new ZooKeeper(servers, sessionMs, event -> states.add(event.getState()),
                id, Base64.getDecoder().decode(password));
            KeeperState state = states.poll(10, TimeUnit.SECONDS);
            second.close();
            if (state == KeeperState.Expired) {
                return "ok";
            }
        }
        return "error the session could not be taken over";
    }

    /**
     * The node with which the calling thread holds the lock. Curator shows it only
     * to subclasses, and the sides of a read/write lock are its subclasses.
     * So this uses reflection.
     */
    private static String nodeOf(InterProcessMutex lock) throws Exception {
        Method getLockPath = InterProcessMutex.class.getDeclaredMethod("getLockPath");
        getLockPath.setAccessible(true);
        return (String) getLockPath.invoke(lock);
    }

    /** The selector's mutex, which Curator keeps private. */
    private static InterProcessMutex mutexOf(LeaderSelector selector) throws Exception {
        Field mutex = LeaderSelector.class.getDeclaredField("mutex");
        mutex.setAccessible(true);
        return (InterProcessMutex) mutex.get(selector);
    }

    /** The lease of a semaphore mutex, which Curator keeps private. */
    private static Lease leaseOf(InterProcessSemaphoreMutex lock) throws Exception {
        Field lease = InterProcessSemaphoreMutex.class.getDeclaredField("lease");
        lease.setAccessible(true);
        return (Lease) lease.get(lock);
    }

    private static String nodeOf(String path, Lease lease) {
        return path + "/leases/" + lease.getNodeName();
    }

    private long czxid(String node) throws Exception {
        return stat(node).getCzxid();
    }

    private Stat stat(String node) throws Exception {
        Stat stat = client.checkExists().forPath(node);
        if (stat == null) {
            throw new IllegalStateException("held without a node: " + node);
        }
        return stat;
    }

    /** A lock that is held, and how to release it. */
    private static class Held {
        final String node;
        final AutoCloseable release;

        Held(String node, AutoCloseable release) {
            this.node = node;
            this.release = release;
        }
    }

    /** One thread and the locks that it holds. */
    private class Contender {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Deque<Held> held = new ArrayDeque<>();
        private final CountDownLatch revoked = new CountDownLatch(1);

        String obey(String[] words) throws Exception {
            switch (words[1]) {
                case "acquire":
                    String kind = words.length > 5 ? words[5] : "mutex";
                    Held got = acquire(words[3], Long.parseLong(words[4]), kind);
                    if (got == null) {
                        return "timeout";
                    }
                    held.push(got);
                    return "ok " + got.node + " " + czxid(got.node);
                case "release":
                    Held last = words.length > 3 ? ofNode(words[3]) : held.peek();
                    held.remove(last);
                    last.release.close();
                    return "ok";
                case "await-revocation":
                    return revoked.await(Long.parseLong(words[3]), TimeUnit.MILLISECONDS) ? "ok" : "timeout";
                default:
                    return cycle(words[3], words[4], Integer.parseInt(words[5]),
                        Long.parseLong(words[6]), words[7], words[8]);
            }
        }

        private Held ofNode(String node) {
            return held.stream().filter(h -> h.node.equals(node)).findFirst().get();
        }

        private Held acquire(String path, long ms, String kind) throws Exception {
            if (kind.startsWith("lease-")) {
                return acquireLeases(path, ms, kind);
            }
            if (kind.equals("semaphore-mutex")) {
                InterProcessSemaphoreMutex lock = new InterProcessSemaphoreMutex(client, path);
                return lock.acquire(ms, TimeUnit.MILLISECONDS)
                    ? new Held(nodeOf(path, leaseOf(lock)), lock::release)
                    : null;
            }
            InterProcessMutex lock = lock(path, kind);
            if (kind.equals("revocable")) {
                lock.makeRevocable(l -> revoked.countDown());
            }
            return lock.acquire(ms, TimeUnit.MILLISECONDS) ? new Held(nodeOf(lock), lock::release) : null;
        }

        private Held acquireLeases(String path, long ms, String kind) throws Exception {
            String[] parts = kind.split("-");
            int many = parts.length > 2 ? Integer.parseInt(parts[2]) : 1;
            InterProcessSemaphoreV2 semaphore = semaphore(path, kind);
            Collection<Lease> leases = semaphore.acquire(many, ms, TimeUnit.MILLISECONDS);
            if (leases == null) {
                return null;
            }
            Lease last = new ArrayDeque<>(leases).getLast();
            return new Held(nodeOf(path, last), () -> semaphore.returnAll(leases));
        }

        private String cycle(String path, String host, int port, long ms, String kind, String weight)
                throws Exception {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            int cycles = 0;
            try (Socket socket = new Socket(host, port)) {
                socket.setTcpNoDelay(true);
                BufferedReader in = lines(socket.getInputStream());
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true);
                for (; System.nanoTime() < end; cycles++) {
                    Held got = acquire(path, 60_000, kind);
                    if (got == null) {
                        return "timeout";
                    }
                    tell(in, out, "enter Java " + czxid(got.node) + " " + weight + "\n");
                    tell(in, out, "leave\n");
                    got.release.close();
                }
            }
            return "ok " + cycles;
        }

        private void tell(BufferedReader in, PrintWriter checker, String line) throws IOException {
            checker.print(line);
            checker.flush();
            String verdict = in.readLine();
            if (!"ok".equals(verdict)) {
                throw new IOException("lock checker: " + verdict);
            }
        }
    }
}
