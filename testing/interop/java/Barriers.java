import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/**
 * The barriers of a peer. A command is one of these:
 *
 * barrier raise|lower PATH
 *     ok
 * barrier wait PATH MS
 *     ok, when the barrier is down, or timeout
 * barrier enter|leave PATH NAME N MS
 *     ok, when N members have entered or left, or timeout. NAME is a member.
 */
class Barriers {
    private final CuratorFramework client;
    private final Map<String, DistributedDoubleBarrier> members = new ConcurrentHashMap<>();

    Barriers(CuratorFramework client) {
        this.client = client;
    }

    String obey(String[] words) throws Exception {
        String path = words[3];
        switch (words[2]) {
            case "raise":
                new DistributedBarrier(client, path).setBarrier();
                return "ok";
            case "lower":
                new DistributedBarrier(client, path).removeBarrier();
                return "ok";
            case "wait":
                return answer(new DistributedBarrier(client, path)
                    .waitOnBarrier(Long.parseLong(words[4]), TimeUnit.MILLISECONDS));
            case "enter":
                return answer(member(words).enter(Long.parseLong(words[6]), TimeUnit.MILLISECONDS));
            case "leave":
                return answer(member(words).leave(Long.parseLong(words[6]), TimeUnit.MILLISECONDS));
            default:
                return "error no such command: " + words[2];
        }
    }

    private DistributedDoubleBarrier member(String[] words) {
        return members.computeIfAbsent(words[3] + " " + words[4],
            name -> new DistributedDoubleBarrier(client, words[3], Integer.parseInt(words[5])));
    }

    private static String answer(boolean done) {
        return done ? "ok" : "timeout";
    }
}
