import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.Function;
import org.keycloak.authentication.AuthenticationFlowContext;
import org.keycloak.authentication.Authenticator;
import org.keycloak.authentication.AuthenticatorFactory;
import org.keycloak.forms.login.LoginFormsProvider;
import org.keycloak.http.HttpRequest;
import org.keycloak.models.KeycloakContext;
import org.keycloak.models.KeycloakSession;
import org.keycloak.models.UserModel;
import org.keycloak.sessions.AuthenticationSessionModel;

/** Calls the authenticator as Keycloak does, with what its standard input asks for, and prints the outcome of each call. */
final class Driver {
    private static final class Form extends HashMap<String, List<String>> implements MultivaluedMap<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String getFirst(String key) {
            return containsKey(key) ? get(key).get(0) : null;
        }
    }

    private static final class Page extends Response {
        private final String text;

        private Page(String text) {
            this.text = text;
        }
    }

    /** An object with the given methods. */
    private static <T> T like(Class<T> type, Map<String, Function<Object[], Object>> methods) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) ->
            methods.get(method.getName()).apply(arguments)));
    }

    private static final Map<String, String> NOTES = new HashMap<>();
    private static String phone;
    private static Locale locale;
    private static String outcome;

    private static LoginFormsProvider form(List<String> parts) {
        Function<String, Function<Object[], Object>> add = name -> arguments -> {
            List<String> more = new ArrayList<>(parts);
            more.add(name + arguments[0] + (name.isEmpty() ? "=" + arguments[1] : ""));
            return form(more);
        };
        return like(LoginFormsProvider.class, Map.of(
            "setAttribute", add.apply(""),
            "setError", add.apply("error="),
            "createForm", arguments -> new Page(arguments[0] + " " + String.join(" ", parts))));
    }

    private static AuthenticationFlowContext context(Form typed) {
        UserModel user = like(UserModel.class, Map.of("getFirstAttribute", arguments -> arguments[0].equals("phoneNumber") ? phone : null));
        AuthenticationSessionModel session = like(AuthenticationSessionModel.class, Map.of(
            "getAuthNote", arguments -> NOTES.get(arguments[0]),
            "setAuthNote", arguments -> NOTES.put((String) arguments[0], (String) arguments[1]),
            "removeAuthNote", arguments -> NOTES.remove(arguments[0])));
        KeycloakContext language = like(KeycloakContext.class, Map.of("resolveLocale", arguments -> locale));
        return like(AuthenticationFlowContext.class, Map.of(
            "getUser", arguments -> user,
            "getAuthenticationSession", arguments -> session,
            "getSession", arguments -> like(KeycloakSession.class, Map.of("getContext", none -> language)),
            "getHttpRequest", arguments -> like(HttpRequest.class, Map.of("getDecodedFormParameters", none -> typed)),
            "form", arguments -> form(List.of()),
            "success", arguments -> outcome = "success",
            "challenge", arguments -> outcome = "challenge " + ((Page) arguments[0]).text,
            "failureChallenge", arguments -> outcome = arguments[0] + " " + ((Page) arguments[1]).text));
    }

    public static void main(String[] args) throws Exception {
        AuthenticatorFactory factory = ServiceLoader.load(AuthenticatorFactory.class).iterator().next();
        factory.init(null);
        Authenticator authenticator = factory.create(null);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] words = line.split(" ", 3);
            outcome = null;
            Form typed = new Form();
            switch (words[0]) {
                case "user":
                    NOTES.clear();
                    phone = words[1];
                    locale = Locale.forLanguageTag(words[2]);
                    outcome = factory.getId() + " " + authenticator.configuredFor(null, null, context(typed).getUser());
                    break;
                case "wait":
                    // As if the send were older.
                    NOTES.computeIfPresent("onecode.sentAt", (name, ms) -> Long.toString(Long.parseLong(ms) - 30_000));
                    break;
                case "authenticate":
                    authenticator.authenticate(context(typed));
                    break;
                default:
                    typed.put(words[0], List.of(words[1]));
                    authenticator.action(context(typed));
            }
            System.out.println(outcome);
        }
    }
}
