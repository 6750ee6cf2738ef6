import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
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
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A process with one Curator client, for the arguments SERVERS SESSION-MS. Each line on its stdin is a command with a
 * number in front. Each gets one line on stdout, with the same number and "ok ...", "timeout" or "error ...", when it
 * is done; the line with number 0 says that there is a session.
 *
 *   acquire NAME PATH MS [KIND]          ok NODE CZXID, or timeout
 *   release NAME [NODE]                  ok; what was acquired last goes first, if there is no NODE
 *   participants PATH [KIND]             ok NODE...
 *   revoke NODE                          ok
 *   await-revocation NAME MS             ok, when somebody has asked for the revocable lock, or timeout
 *   lead NAME PATH latch|selector [HOST PORT]
 *                                        ok; NAME is the candidate's id. With HOST and PORT, it is on the throne there while
 *                                        it leads, and stands again after each leadership
 *   await-leadership NAME MS             ok, or timeout
 *   leader NAME                          ok ID, as the candidate sees it
 *   candidates NAME                      ok ID..., likewise, the leader first
 *   resign NAME                          ok
 *   count PATH                           ok VALUE
 *   count-set PATH VALUE [EXPECTED]      ok; or, if it is not EXPECTED, error
 *   count-await PATH VALUE MS            ok, when that is what listeners were told, or timeout
 *   protection NODE-NAME                 ok UUID NAME-WITHOUT-IT, as Curator itself takes the name apart
 *   kill-session [ID PASSWORD]           ok, when the server has ended that session, or else the one of this client
 *   hold-cycle NAME PATH HOST PORT MS KIND WEIGHT
 *                                        ok CYCLES: for MS, acquire, enter and leave the register there, release
 *   bench PATH CLIENTS PATHS THREADS shared|apart CYCLES
 *                                        ok NANOSECONDS, that a round of the process's crowd has taken: see Crowd.java
 *   quit
 *
 * KIND is mutex, revocable, read, write, semaphore-mutex, or of a semaphore lease-N, one of N; lease-N-Q, Q of N; or
 * lease-shared, one of as many as the count at PATH-limit says. NODE is that of the last lease, if there are several.
 *
 * Curator's locks belong to threads, so each NAME is a thread, and commands for one name are done in turn. Only leadership
 * belongs to objects: these commands are for a candidate that is called NAME.
 * The end of stdin is a quit: this process does not outlive the one that started it.
 */
public class Peer {
    private final String servers;
    private final int sessionMs;
    private final CuratorFramework client;
    private final Map<String, Contender> contenders = new HashMap<>();
    private final Map<String, Candidate> candidates = new ConcurrentHashMap<>();
    private final Map<String, SharedCount> counts = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();
    private Crowd crowd; // is made by the first command for it
    private final ExecutorService waits = Executors.newCachedThreadPool();

    private Peer(String servers, int sessionMs) {
        this.servers = servers;
        this.sessionMs = sessionMs;
        this.client = CuratorFrameworkFactory.newClient(servers, sessionMs, sessionMs, new ExponentialBackoffRetry(50, 10));
    }

    public static void main(String[] args) throws Exception {
        Peer peer = new Peer(args[0], Integer.parseInt(args[1]));
        peer.client.start();
        run("0", () -> peer.client.blockUntilConnected(60, TimeUnit.SECONDS) ? "ok" : "error no connection");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.endsWith(" quit"); line = in.readLine()) {
            peer.dispatch(line.split(" "));
        }
        if (peer.crowd != null) {
            peer.crowd.close();
        }
        peer.client.close();
        System.exit(0); // although contenders may still wait
    }

    /** What may wait for a lock is left to its contender's thread, so that the reader of stdin never does. */
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
                run(words[0], () -> "ok " + String.join(" ", participants(subject, words.length > 3 ? words[3] : "mutex")));
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
            case "bench":
                waits.execute(() -> run(words[0], () -> "ok " + crowd(words).round(Integer.parseInt(words[7]))));
                break;
            case "protection":
                run(words[0], () -> protection(subject));
                break;
            case "kill-session":
                run(words[0], () -> words.length > 3 ? killSession(Long.parseLong(words[2]), words[3]) : killSession());
                break;
            default:
                run(words[0], () -> "error no such command: " + words[1]);
        }
    }

    private synchronized Crowd crowd(String[] words) {
        if (crowd == null) {
            crowd = new Crowd(servers, sessionMs, words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]),
                Integer.parseInt(words[5]), words[6].equals("apart"));
        }
        return crowd;
    }

    private static void run(String number, Callable<String> command) {
        String result;
        try {
            result = command.call();
        } catch (Exception e) {
            result = "error " + e.toString().replaceAll("\\s+", " ");
        }
        System.out.println(number + " " + result);
    }

    private Collection<String> participants(String path, String kind) throws Exception {
        return kind.startsWith("lease-") ? semaphore(path, kind).getParticipantNodes() : lock(path, kind).getParticipantNodes();
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

    /** Both sides of a lock have to come from one object, for its holder to change sides. */
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
            Throne throne = words.length > 5 ? new Throne(name, words[5], Integer.parseInt(words[6])) : null;
            candidates.put(name, words[4].equals("latch")
                ? new LatchCandidate(words[3], name, throne)
                : new SelectorCandidate(words[3], name, throne));
            return "ok";
        }
        Candidate candidate = candidates.get(name);
        switch (command) {
            case "await-leadership":
                return candidate.await(Long.parseLong(words[3])) ? "ok" : "timeout";
            case "leader":
                return "ok " + candidate.leader();
            case "candidates":
                return "ok " + candidate.all().stream()
                    .sorted(Comparator.comparing(Participant::isLeader).reversed())
                    .map(Participant::getId)
                    .collect(Collectors.joining(" "));
            default:
                candidate.resign();
                return "ok";
        }
    }

    /** Somebody who wants to lead, from its creation to its resignation. */
    private interface Candidate {
        boolean await(long ms) throws Exception;

        String leader() throws Exception;

        Collection<Participant> all() throws Exception;

        void resign() throws Exception;
    }

    private class LatchCandidate implements Candidate {
        private final LeaderLatch latch;

        LatchCandidate(String path, String id, Throne throne) throws Exception {
            latch = new LeaderLatch(client, path, id);
            if (throne != null) {
                latch.addListener(follow(throne), Executors.newSingleThreadExecutor());
            }
            latch.start();
        }

        private LeaderLatchListener follow(Throne throne) {
            return new LeaderLatchListener() {
                @Override
                public void isLeader() {
                    throne.ascend(latch.getOurPath(), latch::hasLeadership);
                }

                @Override
                public void notLeader() {
                    throne.leave();
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

        public void resign() throws Exception {
            latch.close();
        }
    }

    private class SelectorCandidate extends LeaderSelectorListenerAdapter implements Candidate {
        private final LeaderSelector selector;
        private final CountDownLatch leading = new CountDownLatch(1);
        private final CountDownLatch resigned = new CountDownLatch(1);
        private final Throne throne;

        SelectorCandidate(String path, String id, Throne throne) {
            this.throne = throne;
            selector = new LeaderSelector(client, path, this);
            selector.setId(id);
            if (throne != null) {
                selector.autoRequeue();
            }
            selector.start();
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws Exception {
            leading.countDown();
            try {
                if (throne != null) {
                    throne.ascend(nodeOf(mutexOf(selector)), selector::hasLeadership);
                }
                resigned.await();
            } finally {
                if (throne != null) {
                    throne.leave();
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

        public void resign() {
            resigned.countDown();
            selector.close();
        }
    }

    /** A candidate's way to the throne, on which there may be one at a time. */
    private class Throne {
        private final String id;
        private final String host;
        private final int port;
        private Socket seat;

        Throne(String id, String host, int port) {
            this.id = id;
            this.host = host;
            this.port = port;
        }

        /** Whatever fails here is the loss of the leadership, of which the candidate is told by other means. */
        void ascend(String node, BooleanSupplier leads) {
            try {
                long token = czxid(node);
                if (leads.getAsBoolean()) {
                    seat = new Socket(host, port);
                    seat.getOutputStream().write(("enter " + id + " " + token + "\n").getBytes());
                    seat.getInputStream().read();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                System.err.println(id + " does not lead after all: " + e);
            }
        }

        /** Whoever hangs up has left. The other side hangs up when it knows. */
        void leave() {
            try {
                if (seat != null) {
                    seat.shutdownOutput();
                    while (seat.getInputStream().read() >= 0) {
                    }
                    seat.close();
                }
            } catch (IOException e) {
                System.err.println(id + " cannot leave: " + e);
            }
            seat = null;
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
                if (count.getCount() == Integer.parseInt(words[4]) && count.trySetCount(count.getVersionedValue(), value)) {
                    return "ok";
                }
                return "error it is " + count.getCount();
            default:
                return awaitCount(count, Integer.parseInt(words[3]), Long.parseLong(words[4])) ? "ok" : "timeout";
        }
    }

    private boolean awaitCount(SharedCount count, int value, long ms) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (count.getCount() != value) { // which is what its watch has brought
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

    /** After the loss of a session, the handle of the next one has no id until it is connected. */
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
     * A session ends on the server, and not just in its client's opinion, when a second handle of it is closed. Its client
     * may be quick and take it back before that, so this goes on until the server says that there is no such session.
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

    /** The node with which the calling thread holds the lock. Curator shows it only to subclasses, and makes its own of the sides. */
    private static String nodeOf(InterProcessMutex lock) throws Exception {
        Method getLockPath = InterProcessMutex.class.getDeclaredMethod("getLockPath");
        getLockPath.setAccessible(true);
        return (String) getLockPath.invoke(lock);
    }

    /** Curator keeps it to itself. */
    private static InterProcessMutex mutexOf(LeaderSelector selector) throws Exception {
        Field mutex = LeaderSelector.class.getDeclaredField("mutex");
        mutex.setAccessible(true);
        return (InterProcessMutex) mutex.get(selector);
    }

    /** Likewise. */
    private static Lease leaseOf(InterProcessSemaphoreMutex lock) throws Exception {
        Field lease = InterProcessSemaphoreMutex.class.getDeclaredField("lease");
        lease.setAccessible(true);
        return (Lease) lease.get(lock);
    }

    private static String nodeOf(String path, Lease lease) {
        return path + "/leases/" + lease.getNodeName();
    }

    private long czxid(String node) throws Exception {
        Stat stat = client.checkExists().forPath(node);
        if (stat == null) {
            throw new IllegalStateException("held without a node: " + node);
        }
        return stat.getCzxid();
    }

    /** Something held, and how to let it go. */
    private static class Held {
        final String node;
        final AutoCloseable release;

        Held(String node, AutoCloseable release) {
            this.node = node;
            this.release = release;
        }
    }

    /** One thread, and what it holds. */
    private class Contender {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Deque<Held> held = new ArrayDeque<>();
        private final CountDownLatch revoked = new CountDownLatch(1);

        String obey(String[] words) throws Exception {
            switch (words[1]) {
                case "acquire":
                    Held got = acquire(words[3], Long.parseLong(words[4]), words.length > 5 ? words[5] : "mutex");
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
                    return cycle(words[3], words[4], Integer.parseInt(words[5]), Long.parseLong(words[6]), words[7], words[8]);
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
                return lock.acquire(ms, TimeUnit.MILLISECONDS) ? new Held(nodeOf(path, leaseOf(lock)), lock::release) : null;
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

        private String cycle(String path, String host, int port, long ms, String kind, String weight) throws Exception {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            int cycles = 0;
            try (Socket socket = new Socket(host, port)) {
                socket.setTcpNoDelay(true);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
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

        private void tell(BufferedReader in, PrintWriter register, String line) throws IOException {
            register.print(line);
            register.flush();
            String verdict = in.readLine();
            if (!"ok".equals(verdict)) {
                throw new IOException("register: " + verdict);
            }
        }
    }
}
