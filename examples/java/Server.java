import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;

/** A sign-in with a code by WhatsApp: java -cp classes Server */
final class Server {
    private static final int FORM_BYTES_MAX = 4096;
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * A number and the id of the send to it, or null when that id can no longer be verified. It never changes: another one takes its
     * place. So a code that is sent meanwhile cannot pair an id with the number of another.
     */
    private record Pending(String to, String sendId) {}

    /** A creation whose outcome is unknown. */
    private record Attempt(String to, String key) {}

    /** Requests of one session come at the same time: what changes is read and written in synchronized blocks alone. */
    private static final class Session {
        final String id = secret();
        final String csrf = secret();
        final String signedInAs;
        String notice;
        Pending pending;
        Attempt unfinished;
        long nextSendAtNanos = System.nanoTime();

        Session(String signedInAs) {
            this.signedInAs = signedInAs;
        }
    }

    /** What became of a verification: whether the person is signed in, and what to tell them if not. */
    private record Outcome(boolean valid, String notice) {}

    private final Map<String, Session> sessions = new ConcurrentHashMap<>();
    private final Onecode onecode;
    private final long resendAfterNanos;
    private final boolean secure;

    private Server(Onecode onecode, long resendAfterNanos, boolean secure) {
        this.onecode = onecode;
        this.resendAfterNanos = resendAfterNanos;
        this.secure = secure;
    }

    private Session newSession(String signedInAs) {
        Session session = new Session(signedInAs);
        sessions.put(session.id, session);
        return session;
    }

    /** Gives a session a new id. An id that somebody planted before is worth nothing then. */
    private Session renew(Session old, String signedInAs) {
        sessions.remove(old.id);
        return newSession(signedInAs);
    }

    /** Sends a code. Returns what to tell the person, or null. */
    private String sendCode(Session session, String to) {
        String key;
        synchronized (session) {
            long now = System.nanoTime();
            long waitNanos = session.nextSendAtNanos - now;
            if (waitNanos > 0) return "Wait " + (waitNanos + 999_999_999) / 1_000_000_000 + " seconds before you ask for a new code.";
            session.nextSendAtNanos = now + resendAfterNanos;
            // The key of an attempt whose outcome is unknown goes on with it. Otherwise a new key makes a new code.
            Attempt unfinished = session.unfinished;
            session.unfinished = null;
            key = unfinished != null && unfinished.to().equals(to) ? unfinished.key() : Onecode.newKey();
        }
        try {
            Pending pending = new Pending(to, onecode.send(to, key));
            synchronized (session) {
                session.pending = pending;
            }
            return null;
        } catch (Onecode.Refused refused) {
            // A limit says nothing of a try before it whose answer was lost.
            failed(session, refused.status == 429 ? new Attempt(to, key) : null);
            if (refused.status == 422) return "No code can be sent to this number. Check it.";
            if (refused.status == 429) return "Too many codes were asked for. Try again later.";
        } catch (Onecode.Unknown unknown) {
            failed(session, new Attempt(to, key));
        }
        return "We could not send a code. Try again.";
    }

    private static void failed(Session session, Attempt unfinished) {
        synchronized (session) {
            session.nextSendAtNanos = System.nanoTime();
            if (unfinished != null) session.unfinished = unfinished;
        }
    }

    private Outcome verify(Session session, Pending asked, String code) {
        Onecode.Judgement judgement;
        try {
            judgement = onecode.verify(asked.sendId(), code);
        } catch (Onecode.Refused refused) {
            return new Outcome(false, "The code was not checked. Try again later.");
        } catch (Onecode.Unknown unknown) {
            // The code may be used up, so it is never verified again.
            synchronized (session) {
                if (session.pending == asked) session.pending = new Pending(asked.to(), null);
            }
            return new Outcome(false, "We could not check the code. Ask for a new one.");
        }
        if (judgement.valid()) return new Outcome(true, null);
        return new Outcome(false, switch (judgement.verification()) {
            case "pending" -> "That code is wrong. Attempts left: " + judgement.attemptsLeft() + ".";
            case "expired" -> "That code has expired. Ask for a new one.";
            case "locked" -> "Too many wrong codes. Ask for a new one.";
            default -> "That code was used already. Ask for a new one.";
        });
    }

    private String deliveryNotice(Pending pending) {
        if (pending == null || pending.sendId() == null) return null;
        try {
            if (!"failed".equals(onecode.status(pending.sendId()))) return null;
            return "The code could not be delivered. Check the number or ask for a new one.";
        } catch (Onecode.Unknown unknown) {
            return null; // The page works without it.
        }
    }

    private static String page(Session session, Pending pending, String notice) {
        String content = "";
        if (session.signedInAs != null) {
            content = "<p>You are signed in as " + escape(session.signedInAs) + ".</p>" + form(session, "/sign-out", "<button>Sign out</button>");
        } else if (pending == null) {
            content = form(session, "/code", "<label>WhatsApp number, with + and country code <input name=\"to\" type=\"tel\" "
                + "autocomplete=\"tel\" required></label> <button>Send code</button>");
        } else {
            if (pending.sendId() != null)
                content = "<p>We sent a code to " + escape(pending.to()) + " by WhatsApp.</p>"
                    + form(session, "/verify", "<label>Code <input name=\"code\" inputmode=\"numeric\" "
                        + "autocomplete=\"one-time-code\" required></label> <button>Sign in</button>");
            content += form(session, "/resend", "<button>Send a new code</button>")
                + form(session, "/restart", "<button>Use another number</button>");
        }
        String told = notice == null ? "" : "<p role=\"status\">" + escape(notice) + "</p>";
        return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
            + "<title>Sign in</title><h1>Sign in</h1>" + told + content + "</html>";
    }

    private static String form(Session session, String action, String fields) {
        String csrf = "<input type=\"hidden\" name=\"csrf\" value=\"" + session.csrf + "\">";
        return "<form method=\"post\" action=\"" + action + "\">" + csrf + fields + "</form>";
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;").replace("'", "&#39;");
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            switch (exchange.getRequestMethod()) {
                case "GET" -> get(exchange);
                case "POST" -> post(exchange);
                default -> answer(exchange, 405, "Not allowed.", null);
            }
        }
    }

    private void get(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestURI().getPath().equals("/")) {
            answer(exchange, 404, "Not found.", null);
            return;
        }
        Session known = sessionOf(exchange);
        Session session = known == null ? newSession(null) : known;
        String notice;
        Pending pending;
        synchronized (session) {
            notice = session.notice;
            pending = session.pending;
            session.notice = null;
        }
        if (notice == null) notice = deliveryNotice(pending);
        answer(exchange, 200, page(session, pending, notice), known == null ? session : null);
    }

    private void post(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(FORM_BYTES_MAX + 1);
        if (body.length > FORM_BYTES_MAX) {
            answer(exchange, 413, "Too long.", null);
            return;
        }
        Map<String, String> form;
        try {
            form = formOf(new String(body, UTF_8));
        } catch (IllegalArgumentException error) {
            answer(exchange, 400, "This is no form.", null);
            return;
        }
        Session session = sessionOf(exchange);
        if (session == null || !MessageDigest.isEqual(form.getOrDefault("csrf", "").getBytes(UTF_8), session.csrf.getBytes(UTF_8))) {
            answer(exchange, 403, "This form is too old. Go back and reload the page.", null);
            return;
        }
        answer(exchange, 303, "", act(session, exchange.getRequestURI().getPath(), form));
    }

    /** Does what a form asks for. Returns the session that takes the old one's place, or null. */
    private Session act(Session session, String path, Map<String, String> form) {
        // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
        Pending pending;
        synchronized (session) {
            pending = session.pending;
        }
        String notice = null;
        if (path.equals("/code")) {
            notice = sendCode(session, form.getOrDefault("to", ""));
        } else if (path.equals("/resend") && pending != null) {
            notice = sendCode(session, pending.to());
        } else if (path.equals("/verify") && pending != null && pending.sendId() != null) {
            Outcome outcome = verify(session, pending, form.getOrDefault("code", ""));
            if (outcome.valid()) return renew(session, pending.to());
            notice = outcome.notice();
        } else if (path.equals("/restart")) {
            synchronized (session) {
                session.pending = null;
            }
        } else if (path.equals("/sign-out")) {
            return renew(session, null);
        }
        synchronized (session) {
            session.notice = notice;
        }
        return null;
    }

    /** Of fields with one name the first counts. */
    private static Map<String, String> formOf(String body) {
        Map<String, String> form = new HashMap<>();
        for (String pair : body.split("&")) {
            String[] parts = pair.split("=", 2);
            String value = parts.length == 2 ? parts[1] : "";
            form.putIfAbsent(URLDecoder.decode(parts[0], UTF_8), URLDecoder.decode(value, UTF_8).strip());
        }
        return form;
    }

    private Session sessionOf(HttpExchange exchange) {
        for (String header : exchange.getRequestHeaders().getOrDefault("Cookie", List.of()))
            for (String cookie : header.split("; *"))
                if (cookie.startsWith("session=")) return sessions.get(cookie.substring("session=".length()));
        return null;
    }

    private void answer(HttpExchange exchange, int status, String body, Session created) throws IOException {
        var headers = exchange.getResponseHeaders();
        if (status == 303) headers.set("Location", "/");
        if (created != null)
            headers.set("Set-Cookie", "session=" + created.id + "; Path=/; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : ""));
        headers.set("Content-Type", "text/html; charset=utf-8");
        headers.set("Cache-Control", "no-store");
        byte[] bytes = body.getBytes(UTF_8);
        boolean hasBody = bytes.length > 0 && !exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, hasBody ? bytes.length : -1);
        if (hasBody) exchange.getResponseBody().write(bytes);
    }

    private static String secret() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    public static void main(String[] arguments) throws IOException {
        Map<String, String> env = System.getenv();
        String url = env.getOrDefault("ONECODE_URL", "");
        String key = env.getOrDefault("ONECODE_API_KEY", "");
        if (url.isEmpty() || key.isEmpty()) throw new IllegalArgumentException("Set ONECODE_URL and ONECODE_API_KEY.");
        Duration timeout = Duration.ofMillis(Long.parseLong(env.getOrDefault("ONECODE_TIMEOUT_MS", "10000")));
        double resendAfterSeconds = Double.parseDouble(env.getOrDefault("RESEND_AFTER_SECONDS", "30"));
        Server server = new Server(
            new Onecode(url.replaceAll("/+$", ""), key, timeout),
            (long) (resendAfterSeconds * 1_000_000_000),
            "1".equals(env.get("HTTPS")));

        int port = Integer.parseInt(env.getOrDefault("PORT", "8000"));
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
        http.createContext("/", server::handle);
        // A thread for each request: they wait for the service.
        http.setExecutor(Executors.newCachedThreadPool());
        http.start();
        System.out.println("http://127.0.0.1:" + http.getAddress().getPort());
    }
}
