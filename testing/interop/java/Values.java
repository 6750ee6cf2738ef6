import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedValue;

/** The SharedValues of a peer, by their paths. Values are words. */
class Values {
    private final CuratorFramework client;
    private final Map<String, SharedValue> values = new ConcurrentHashMap<>();

    Values(CuratorFramework client) {
        this.client = client;
    }

    /** Obeys a command of words that begin with its number. */
    String obey(String[] words) throws Exception {
        SharedValue value = value(words[2]);
        switch (words[1]) {
            case "value":
                return "ok " + text(value);
            case "value-set":
                if (words.length == 4) {
                    value.setValue(bytes(words[3]));
                    return "ok";
                }
                if (text(value).equals(words[4])
                        && value.trySetValue(value.getVersionedValue(), bytes(words[3]))) {
                    return "ok";
                }
                return "error it is " + text(value);
            default:
                return await(value, words[3], Long.parseLong(words[4])) ? "ok" : "timeout";
        }
    }

    private SharedValue value(String path) throws Exception {
        SharedValue made = new SharedValue(client, path, bytes("seed"));
        SharedValue value = values.computeIfAbsent(path, p -> made);
        if (value == made) {
            value.start();
        }
        return value;
    }

    /** Waits until the watch has received the value. */
    private static boolean await(SharedValue value, String text, long ms) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (!text(value).equals(text)) {
            if (System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(5);
        }
        return true;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(SharedValue value) {
        return new String(value.getValue(), StandardCharsets.UTF_8);
    }
}
