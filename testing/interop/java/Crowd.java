import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Threads that compete for mutexes, for benchmarks. Each thread belongs to a
 * client and a path, in turn. All threads with the same client and path share
 * an InterProcessMutex, or with apart have one each. Clients and threads live
 * from one round to the next.
 */
class Crowd {
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final List<InterProcessMutex> mutexOfThread = new ArrayList<>();
    private final ExecutorService threads;

    Crowd(String servers, int sessionMs, String path,
            int clientCount, int pathCount, int threadCount, boolean apart) {
        for (int c = 0; c < clientCount; c++) {
            CuratorFramework client = CuratorFrameworkFactory.newClient(
                servers, sessionMs, sessionMs, new ExponentialBackoffRetry(50, 10));
            client.start();
            clients.add(client);
        }
        Map<String, InterProcessMutex> shared = new HashMap<>();
        for (int t = 0; t < threadCount; t++) {
            int c = t % clientCount;
            int p = t % pathCount;
            InterProcessMutex mutex = apart ? null : shared.get(c + "-" + p);
            if (mutex == null) {
                mutex = new InterProcessMutex(clients.get(c), path + "-" + p);
                shared.put(c + "-" + p, mutex);
            }
            mutexOfThread.add(mutex);
        }
        threads = Executors.newFixedThreadPool(threadCount);
    }

    /**
     * Lets every thread acquire and release its mutex the given number of
     * times. Returns the nanoseconds until all of them are done.
     */
    long round(int cycles) throws Exception {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (InterProcessMutex mutex : mutexOfThread) {
            tasks.add(() -> {
                for (int i = 0; i < cycles; i++) {
                    mutex.acquire();
                    mutex.release();
                }
                return null;
            });
        }
        long start = System.nanoTime();
        List<Future<Void>> all = threads.invokeAll(tasks);
        long took = System.nanoTime() - start;
        for (Future<Void> one : all) {
            one.get(); // throws the error of the task
        }
        return took;
    }

    void close() {
        threads.shutdown();
        clients.forEach(CuratorFramework::close);
    }
}
