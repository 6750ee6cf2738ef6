import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * What bench_scenarios_real_test.go measures, with Curator's recipes. Clients and
 * threads live from one round to the next.
 */
class Scenarios {
    /** For as long, a client has queued before the other one releases. */
    private static final long QUEUES_MS = 150;

    private final String servers;
    private final int sessionMs;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    Scenarios(String servers, int sessionMs) {
        this.servers = servers;
        this.sessionMs = sessionMs;
    }

    void close() {
        threads.shutdownNow();
        clients.forEach(CuratorFramework::close);
    }

    /** Runs a scenario, and returns how many nanoseconds it took. */
    synchronized long run(String name, String path, int times) throws Exception {
        switch (name) {
            case "one":
                return together(1, i -> cycles(mutex(0, path), times));
            case "hand-over":
                return handOvers(mutex(0, path), mutex(1, path), times);
            case "try":
                return tries(mutex(0, path), mutex(1, path), times);
            case "read-write":
                return readAndWrite(path, times);
            case "semaphore":
                return semaphore(path, times);
            case "acquire-4":
                return leases(new InterProcessSemaphoreV2(client(0), path, 4), 4, times);
            default:
                throw new IllegalArgumentException("no such scenario: " + name);
        }
    }

    private CuratorFramework client(int i) throws Exception {
        while (clients.size() <= i) {
            CuratorFramework client = CuratorFrameworkFactory.newClient(
                servers, sessionMs, sessionMs, new ExponentialBackoffRetry(50, 10));
            client.start();
            client.blockUntilConnected();
            clients.add(client);
        }
        return clients.get(i);
    }

    private InterProcessMutex mutex(int client, String path) throws Exception {
        return new InterProcessMutex(client(client), path);
    }

    private interface Task {
        void run(int i) throws Exception;
    }

    /** Runs n tasks at the same time. */
    private long together(int n, Task task) throws Exception {
        for (int i = 0; i < Math.min(n, 8); i++) {
            client(i); // threads must not make them
        }
        List<Callable<Void>> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int who = i;
            all.add(() -> {
                task.run(who);
                return null;
            });
        }
        long start = System.nanoTime();
        List<Future<Void>> done = threads.invokeAll(all);
        long took = System.nanoTime() - start;
        for (Future<Void> one : done) {
            one.get(); // throws the error of the task
        }
        return took;
    }

    private static void cycles(InterProcessLock lock, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            lock.acquire();
            lock.release();
        }
    }

    /** Two threads, which meet before each hand-over, hold in turn. */
    private long handOvers(InterProcessMutex one, InterProcessMutex two, int times) throws Exception {
        CyclicBarrier meet = new CyclicBarrier(2);
        long[] released = new long[times];
        long[] granted = new long[times];
        together(2, i -> {
            InterProcessMutex own = i == 0 ? one : two;
            if (i == 0) {
                own.acquire();
            }
            for (int n = 0; n < times; n++) {
                meet.await();
                if (n % 2 == i) {
                    Thread.sleep(QUEUES_MS);
                    released[n] = System.nanoTime();
                    own.release();
                } else {
                    own.acquire();
                    granted[n] = System.nanoTime();
                }
            }
            meet.await();
            if (times % 2 == i) {
                own.release();
            }
        });
        return Arrays.stream(granted).sum() - Arrays.stream(released).sum();
    }

    private long tries(InterProcessMutex holder, InterProcessMutex other, int times) throws Exception {
        holder.acquire();
        try {
            return together(1, i -> { // in another thread: the mutex is reentrant
                for (int n = 0; n < times; n++) {
                    if (other.acquire(0, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("two hold the mutex");
                    }
                }
            });
        } finally {
            holder.release();
        }
    }

    /** One of ten writes. */
    private long readAndWrite(String path, int times) throws Exception {
        List<InterProcessReadWriteLock> locks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            locks.add(new InterProcessReadWriteLock(client(i), path));
        }
        return together(8, i -> {
            for (int n = 0; n < times; n++) {
                InterProcessReadWriteLock lock = locks.get(i);
                cycles((n + i) % 10 == 0 ? lock.writeLock() : lock.readLock(), 1);
            }
        });
    }

    private long semaphore(String path, int times) throws Exception {
        List<InterProcessSemaphoreV2> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add(new InterProcessSemaphoreV2(client(i), path, 8));
        }
        return together(64, i -> {
            for (int n = 0; n < times; n++) {
                InterProcessSemaphoreV2 own = all.get(i % 8);
                own.returnLease(own.acquire());
            }
        });
    }

    private long leases(InterProcessSemaphoreV2 semaphore, int many, int times) throws Exception {
        return together(1, i -> {
            for (int n = 0; n < times; n++) {
                semaphore.returnAll(semaphore.acquire(many));
            }
        });
    }
}
