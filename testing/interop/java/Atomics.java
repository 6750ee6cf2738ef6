import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicValue;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.retry.RetryNTimes;

/** Numbers and values, for the commands that begin with "atomic-". */
class Atomics {
    private final CuratorFramework client;

    Atomics(CuratorFramework client) {
        this.client = client;
    }

    /** A try that fails is repeated at once, which is the fastest for Curator. */
    private static RetryPolicy forever() {
        return new RetryNTimes(Integer.MAX_VALUE, 0);
    }

    String obey(String[] words) throws Exception {
        String kind = words[2];
        String path = words[3];
        switch (words[1]) {
            case "atomic-get":
                return "ok " + get(kind, path);
            case "atomic-set":
                set(kind, path, words[4]);
                return "ok";
            case "atomic-swap":
                return "ok " + swap(kind, path, words[4], words[5]);
            default:
                return "ok " + count(path, Integer.parseInt(words[4]), Integer.parseInt(words[5]),
                    words.length > 6 ? words[6] : null);
        }
    }

    private DistributedAtomicLong number(String path, String lockPath) {
        if (lockPath == null) {
            return new DistributedAtomicLong(client, path, forever());
        }
        PromotedToLock lock = PromotedToLock.builder().lockPath(lockPath)
            .timeout(60, TimeUnit.SECONDS).retryPolicy(forever()).build();
        return new DistributedAtomicLong(client, path, new RetryNTimes(2, 0), lock);
    }

    private DistributedAtomicInteger integer(String path) {
        return new DistributedAtomicInteger(client, path, forever());
    }

    private DistributedAtomicValue value(String path) {
        return new DistributedAtomicValue(client, path, forever());
    }

    private Object get(String kind, String path) throws Exception {
        switch (kind) {
            case "long":
                return number(path, null).get().postValue();
            case "int":
                return integer(path).get().postValue();
            default:
                return new String(value(path).get().postValue(), StandardCharsets.UTF_8);
        }
    }

    private void set(String kind, String path, String word) throws Exception {
        switch (kind) {
            case "long":
                number(path, null).forceSet(Long.parseLong(word));
                break;
            case "int":
                integer(path).forceSet(Integer.parseInt(word));
                break;
            default:
                value(path).forceSet(bytes(word));
        }
    }

    private boolean swap(String kind, String path, String old, String now) throws Exception {
        switch (kind) {
            case "long":
                return number(path, null).compareAndSet(Long.parseLong(old), Long.parseLong(now)).succeeded();
            case "int":
                return integer(path).compareAndSet(Integer.parseInt(old), Integer.parseInt(now)).succeeded();
            default:
                return value(path).compareAndSet(bytes(old), bytes(now)).succeeded();
        }
    }

    private static byte[] bytes(String word) {
        return word.getBytes(StandardCharsets.UTF_8);
    }

    /** Threads that share a number increment it. Returns the nanoseconds until all of them are done. */
    private long count(String path, int threads, int times, String lockPath) throws Exception {
        DistributedAtomicLong number = number(path, lockPath);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            tasks.add(() -> {
                for (int i = 0; i < times; i++) {
                    AtomicValue<Long> result = number.increment();
                    if (!result.succeeded()) {
                        throw new IllegalStateException("an increment has failed");
                    }
                }
                return null;
            });
        }
        ExecutorService all = Executors.newFixedThreadPool(threads);
        try {
            long start = System.nanoTime();
            List<Future<Void>> done = all.invokeAll(tasks);
            long took = System.nanoTime() - start;
            for (Future<Void> one : done) {
                one.get(); // throws the error of the task
            }
            return took;
        } finally {
            all.shutdown();
        }
    }
}
