import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;

/**
 * Records exchanges of the JDK's DIGEST-MD5 client with the JDK's server. Both are
 * created as ZooKeeper's SecurityUtils creates them. Each line of the output is a
 * JSON object. The messages have a character for each byte.
 *
 * <pre>java Record.java > digest-md5.jsonl</pre>
 */
public final class Record {
    private static final String PROTOCOL = "zookeeper";
    private static final String SERVER = "zk-sasl-md5";

    public static void main(String[] args) throws Exception {
        exchange("joe", "secret");
        exchange("joe", "");
        exchange("a \"quoted\" \\ name", "p\"a\\s,s=w:rd");
        exchange("a,b=c", " secret ");
        exchange("m\u00fcller", "stra\u00dfe"); // in ISO 8859-1
        exchange("m\u00fcller", "\u20ac\u017e"); // only the name is
        exchange("\u0436\u4e2d", "stra\u00dfe"); // only the password is
        exchange("\u0436\u4e2d", "\ud83d\udd11");
        refused("wrong password", "joe", "secret", "response=", "response=0");
        refused("wrong realm", "joe", "secret", "realm=\"" + SERVER, "realm=\"elsewhere");
        refused("no realm", "joe", "secret", "realm=\"" + SERVER + "\",", "");
        refused("wrong service", "joe", "secret", "digest-uri=\"" + PROTOCOL, "digest-uri=\"hdfs");
        refused("wrong host", "joe", "secret", "/" + SERVER, "/elsewhere");
        refused("count", "joe", "secret", "nc=00000001", "nc=00000002");
        refused("no cnonce", "joe", "secret", "cnonce=", "x=");
        refused("quality", "joe", "secret", "qop=auth", "qop=auth-conf");
        replayed("joe", "secret");
        challenged("");
        challenged("nonce=\"n\"");
        challenged("nonce=\"n\",algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n\",qop=\"auth\",charset=utf-8,algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n\",qop=\"auth-int,auth\",charset=utf-8,algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n\",qop=\"auth-conf\",charset=utf-8,algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n\",charset=utf-16,algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n\",charset=utf-8,algorithm=md5");
        challenged("realm=\"r\",nonce=\"n\",nonce=\"m\",algorithm=md5-sess");
        challenged("realm=\"r\",nonce=\"n,algorithm=md5-sess");
        challenged("realm=\"a \\\"quoted\\\" \\\\ realm\",nonce=\"n\",algorithm=md5-sess");
        challenged("realm=\"r\" , nonce=\"n\" , stale=true, algorithm=md5-sess,other=\"x\",,");
        challenged("realm=\"r\",algorithm=md5-sess");
    }

    private static SaslClient client(String user, String password) throws SaslException {
        return Sasl.createSaslClient(new String[] {"DIGEST-MD5"}, user, PROTOCOL, SERVER, null, handler(user, password));
    }

    /** Answers like ZooKeeper's SaslClientCallbackHandler and SaslServerCallbackHandler. */
    private static CallbackHandler handler(String user, String password) {
        return callbacks -> {
            for (Callback c : callbacks) {
                if (c instanceof NameCallback n) {
                    n.setName(n.getDefaultName() == null ? user : n.getDefaultName());
                } else if (c instanceof PasswordCallback p) {
                    p.setPassword(password.toCharArray());
                } else if (c instanceof RealmCallback r) {
                    r.setText(r.getDefaultText());
                } else if (c instanceof AuthorizeCallback a) {
                    a.setAuthorized(true);
                    a.setAuthorizedID(a.getAuthenticationID());
                }
            }
        };
    }

    private static SaslServer server(String user, String password) throws SaslException {
        return Sasl.createSaslServer("DIGEST-MD5", PROTOCOL, SERVER, null, handler(user, password));
    }

    private static void exchange(String user, String password) throws SaslException {
        SaslServer server = server(user, password);
        SaslClient client = client(user, password);
        byte[] challenge = server.evaluateResponse(new byte[0]);
        byte[] response = client.evaluateChallenge(challenge);
        byte[] proof = server.evaluateResponse(response);
        byte[] last = client.evaluateChallenge(proof);
        print(Map.of(
            "kind", "exchange", "user", user, "password", password,
            "challenge", text(challenge), "response", text(response), "proof", text(proof),
            "authorized", server.getAuthorizationID(), "last", last == null ? "null" : text(last),
            "complete", String.valueOf(client.isComplete() && server.isComplete())));
    }

    /** The server's answer to a response that somebody has changed. */
    private static void refused(String name, String user, String password, String from, String to) throws SaslException {
        SaslServer server = server(user, password);
        byte[] challenge = server.evaluateResponse(new byte[0]);
        String response = text(client(user, password).evaluateChallenge(challenge)).replace(from, to);
        print(Map.of("kind", "refused", "name", name, "user", user, "password", password,
            "challenge", text(challenge), "response", response,
            "error", error(() -> server.evaluateResponse(bytes(response)))));
    }

    /** The server's answer to a response that another server has accepted. */
    private static void replayed(String user, String password) throws SaslException {
        SaslServer first = server(user, password);
        byte[] response = client(user, password).evaluateChallenge(first.evaluateResponse(new byte[0]));
        first.evaluateResponse(response);
        SaslServer second = server(user, password);
        byte[] challenge = second.evaluateResponse(new byte[0]);
        print(Map.of("kind", "refused", "name", "replayed", "user", user, "password", password,
            "challenge", text(challenge), "response", text(response),
            "error", error(() -> second.evaluateResponse(response))));
    }

    /** The client's answer to a challenge. */
    private static void challenged(String challenge) throws SaslException {
        SaslClient client = client("joe", "secret");
        byte[][] response = new byte[1][];
        String error = error(() -> response[0] = client.evaluateChallenge(bytes(challenge)));
        print(Map.of("kind", "challenged", "user", "joe", "password", "secret", "challenge", challenge,
            "error", error, "response", response[0] == null ? "" : text(response[0])));
    }

    private interface Step {
        void run() throws Exception;
    }

    private static String error(Step step) {
        try {
            step.run();
            return "";
        } catch (Exception e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static String text(byte[] b) {
        return new String(b, StandardCharsets.ISO_8859_1);
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void print(Map<String, String> fields) {
        StringBuilder line = new StringBuilder("{");
        new java.util.TreeMap<>(fields).forEach((name, value) ->
            line.append(line.length() == 1 ? "" : ",").append(quoted(name)).append(":").append(quoted(value)));
        System.out.println(line.append("}"));
    }

    private static String quoted(String s) {
        StringBuilder b = new StringBuilder("\"");
        s.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                b.append('\\').append((char) c);
            } else if (c < ' ' || c > '~') {
                b.append(String.format("\\u%04x", c));
            } else {
                b.append((char) c);
            }
        });
        return b.append('"').toString();
    }
}
