import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.Socket;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.ProtectedUtils;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * A process with one Curator client, for the arguments SERVERS SESSION-MS. Each line on its stdin is a command with a
 * number in front. Each gets one line on stdout, with the same number and "ok ...", "timeout" or "error ...", when it
 * is done; the line with number 0 says that there is a session.
 *
 *   acquire NAME PATH MS                 ok NODE CZXID, or timeout
 *   release NAME                         ok
 *   participants PATH                    ok NODE...
 *   protection NODE-NAME                 ok UUID NAME-WITHOUT-IT, as Curator itself takes the name apart
 *   kill-session [ID PASSWORD]           ok, when the server has ended that session, or else the one of this client
 *   hold-cycle NAME PATH HOST PORT MS    ok CYCLES: for MS, acquire, enter and leave the register there, release
 *   quit
 *
 * Curator's locks belong to threads, so each NAME is a thread, and commands for one name are done in turn.
 * The end of stdin is a quit: this process does not outlive the one that started it.
 */
public class Peer {
    private final String servers;
    private final int sessionMs;
    private final CuratorFramework client;
    private final Map<String, Contender> contenders = new HashMap<>();

    private Peer(String servers, int sessionMs) {
        this.servers = servers;
        this.sessionMs = sessionMs;
        this.client = CuratorFrameworkFactory.newClient(servers, sessionMs, sessionMs, new ExponentialBackoffRetry(50, 10));
    }

    public static void main(String[] args) throws Exception {
        Peer peer = new Peer(args[0], Integer.parseInt(args[1]));
        peer.client.start();
        run("0", () -> peer.client.blockUntilConnected(20, TimeUnit.SECONDS) ? "ok" : "error no connection");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.endsWith(" quit"); line = in.readLine()) {
            peer.dispatch(line.split(" "));
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
            case "hold-cycle":
                Contender contender = contenders.computeIfAbsent(subject, name -> new Contender());
                contender.thread.execute(() -> run(words[0], () -> contender.obey(words)));
                break;
            case "participants":
                run(words[0], () -> "ok " + String.join(" ", new Lock(client, subject).getParticipantNodes()));
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

    private static void run(String number, Callable<String> command) {
        String result;
        try {
            result = command.call();
        } catch (Exception e) {
            result = "error " + e.toString().replaceAll("\\s+", " ");
        }
        System.out.println(number + " " + result);
    }

    private static String protection(String name) {
        return ProtectedUtils.isProtectedZNode(name)
            ? "ok " + ProtectedUtils.extractProtectedId(name).get() + " " + ProtectedUtils.normalize(name)
            : "error not a protected name: " + name;
    }

    private String killSession() throws Exception {
        ZooKeeper own = client.getZookeeperClient().getZooKeeper();
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

    /** Shows the node with which the calling thread holds the lock. */
    private static class Lock extends InterProcessMutex {
        private final CuratorFramework client;

        Lock(CuratorFramework client, String path) {
            super(client, path);
            this.client = client;
        }

        String node() {
            return getLockPath();
        }

        long czxid() throws Exception {
            Stat stat = client.checkExists().forPath(node());
            if (stat == null) {
                throw new IllegalStateException("lock held without a node: " + node());
            }
            return stat.getCzxid();
        }
    }

    /** One thread, and the lock that it holds. */
    private class Contender {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        private Lock held;

        String obey(String[] words) throws Exception {
            switch (words[1]) {
                case "acquire":
                    held = new Lock(client, words[3]);
                    boolean acquired = held.acquire(Long.parseLong(words[4]), TimeUnit.MILLISECONDS);
                    return acquired ? "ok " + held.node() + " " + held.czxid() : "timeout";
                case "release":
                    held.release();
                    return "ok";
                default:
                    return cycle(new Lock(client, words[3]), words[4], words[5], Long.parseLong(words[6]));
            }
        }

        private String cycle(Lock lock, String host, String port, long ms) throws Exception {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
            int cycles = 0;
            try (Socket socket = new Socket(host, Integer.parseInt(port))) {
                socket.setTcpNoDelay(true);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true);
                for (; System.nanoTime() < end; cycles++) {
                    lock.acquire();
                    tell(in, out, "enter Java " + lock.czxid() + "\n");
                    tell(in, out, "leave\n");
                    lock.release();
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
