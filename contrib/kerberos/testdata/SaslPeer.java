import java.util.Base64;
import java.util.HashMap;
import java.util.Scanner;
import java.security.PrivilegedExceptionAction;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslServer;

/** The JDK's GSSAPI server: reads responses from standard input and writes challenges, in base64. */
public class SaslPeer {
    public static void main(String[] args) throws Exception {
        String keytab = args[0], principal = args[1];
        HashMap<String, String> options = new HashMap<>();
        options.put("useKeyTab", "true");
        options.put("storeKey", "true");
        options.put("isInitiator", "false");
        options.put("keyTab", keytab);
        options.put("principal", principal);
        Configuration configuration = new Configuration() {
            public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                return new AppConfigurationEntry[] {new AppConfigurationEntry(
                    "com.sun.security.auth.module.Krb5LoginModule",
                    AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, options)};
            }
        };
        LoginContext login = new LoginContext("Server", new Subject(), null, configuration);
        login.login();
        Subject.doAs(login.getSubject(), (PrivilegedExceptionAction<Void>) () -> serve(principal.split("/")[0]));
    }

    static Void serve(String service) throws Exception {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            SaslServer server = Sasl.createSaslServer("GSSAPI", service, null, null, callbacks -> {
                for (Callback c : callbacks) {
                    ((AuthorizeCallback) c).setAuthorized(true);
                }
            });
            String line = in.nextLine();
            while (true) {
                try {
                    byte[] challenge = server.evaluateResponse(Base64.getDecoder().decode(line));
                    if (server.isComplete()) {
                        System.out.println("OK " + server.getAuthorizationID());
                        break;
                    }
                    System.out.println(Base64.getEncoder().encodeToString(challenge));
                } catch (Exception e) {
                    System.out.println("ERROR " + e + " " + e.getCause());
                    break;
                }
                line = in.nextLine();
            }
        }
        return null;
    }
}
