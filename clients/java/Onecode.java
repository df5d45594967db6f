// SPDX-License-Identifier: Apache-2.0
package onecode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Onecode sends one-time codes over WhatsApp and verifies what users type. For Java 17 or newer, with the standard library only.
 *
 * <pre>{@code
 * Onecode onecode = new Onecode("https://api.example.com", apiKey);
 *
 * Onecode.Send send = onecode.send("+447700900123");
 * // Keep send.id() in this user's session. Never take it from the browser.
 *
 * try {
 *     if (onecode.verify(send.id(), Onecode.normalizeCode(typed)).valid()) signIn(); // Only if this is true.
 * } catch (Onecode.IndeterminateVerificationException error) {
 *     // The code may be used up: offer a new code, with a new send.
 * }
 * }</pre>
 *
 * {@code send} retries with the same key and the same bytes, so that one code is sent and one unit is used. {@code verify} makes a single
 * request: a second would get {@code false} for a code that the first used up. Do not wrap either call in a retry. Threads can share one
 * object.
 */
@SuppressWarnings("serial")
public final class Onecode {
    private static final int ANSWER_BYTES_MAX = 256 * 1024;
    private static final int RETRY_AFTER_SECONDS_MAX = 30;
    private static final Set<String> STATUSES = Set.of("queued", "sending", "sent", "delivered", "read", "failed");
    private static final Set<String> VERIFICATIONS = Set.of("pending", "verified", "expired", "locked");

    static {
        // Shorter than any server or relay keeps an idle connection, so that a verification rarely uses a dead one. It must be set before
        // the program's first HttpClient.
        if (System.getProperty("jdk.httpclient.keepalive.timeout") == null) System.setProperty("jdk.httpclient.keepalive.timeout", "1");
    }

    /**
     * One code for one recipient. A field without a value yet is null.
     *
     * @param status queued, sending, sent, delivered, read or failed
     * @param verification pending, verified, expired or locked
     * @param mode test or live
     */
    public record Send(
        String id, String status, String verification, String mode, String channel, String from, Instant expiresAt, Instant createdAt,
        Instant sentAt, Instant deliveredAt, Instant readAt, Instant verifiedAt, Instant failedAt, String failureReason) {}

    /**
     * The result of a verification. Sign the user in only on {@code valid}, which is true only once.
     *
     * @param verification pending, verified, expired or locked
     * @param attemptsLeft wrong codes still allowed
     */
    public record VerifyResult(boolean valid, String verification, int attemptsLeft) {}

    /**
     * Facts about a request apart from its outcome. Each is null if there is none.
     *
     * @param idempotencyKey of a create request: retry with it and the same input to get the same send
     */
    public record Facts(Integer status, String requestId, Integer retryAfterSeconds, String idempotencyKey) {}

    /** The base class of request errors. A mistake in the call throws an IllegalArgumentException instead, and sends nothing. */
    public abstract static class OnecodeException extends Exception {
        public final Facts facts;

        private OnecodeException(String message, Facts facts) {
            super(message);
            this.facts = facts;
        }
    }

    /** The service refused the request; no user was authenticated. Branch on the code; detail and errors (by field) may change. */
    public static final class ProblemException extends OnecodeException {
        public final String code;
        public final String detail;
        public final Map<String, String> errors;

        private ProblemException(String code, String detail, Map<String, String> errors, Facts facts) {
            super(code + " (" + facts.status + ")", facts);
            this.code = code;
            this.detail = detail;
            this.errors = errors;
        }
    }

    /**
     * The service did not respond. After {@code send}, the send may exist: retry with the idempotency key and the same input. After
     * {@code verify}, nothing was sent.
     */
    public static final class ConnectionException extends OnecodeException {
        private ConnectionException(String message, Facts facts) {
            super(message, facts);
        }
    }

    /** The code may or may not have been checked. Do not verify it again: create a new send, unless you recorded it as valid. */
    public static final class IndeterminateVerificationException extends OnecodeException {
        public final String sendId;

        private IndeterminateVerificationException(String sendId, OnecodeException error) {
            super(error.getMessage(), error.facts);
            this.sendId = sendId;
        }
    }

    private final String baseUrl;
    private final String apiKey;
    private final Duration timeout;
    private final int maxRetries;
    private final Duration deadline;
    private final HttpClient client = HttpClient.newBuilder()
        // HTTP/2 retries by itself after GOAWAY and REFUSED_STREAM, and over http starts with an upgrade.
        .version(HttpClient.Version.HTTP_1_1)
        // Never follow a redirect, so that the key is not sent to another host.
        .followRedirects(HttpClient.Redirect.NEVER)
        .build();

    /** Ten seconds for each try, three retries, and fifteen seconds for all of it. */
    public Onecode(String baseUrl, String apiKey) {
        this(baseUrl, apiKey, Duration.ofSeconds(10), 3, Duration.ofSeconds(15));
    }

    /**
     * @param timeout for one try, response included. Java connects only to the first address of a host, by default an IPv4 address
     * @param maxRetries how often {@code send} tries again
     * @param deadline for one call, with all its tries and the waits between them
     */
    public Onecode(String baseUrl, String apiKey, Duration timeout, int maxRetries, Duration deadline) {
        this(baseUrl, apiKey, timeout, maxRetries, deadline, Set.of());
    }

    /**
     * @param testHosts hosts of a test double, such as a container's name, that may also use http. Never list the service there, because
     *     the key would be readable in transit
     */
    public Onecode(String baseUrl, String apiKey, Duration timeout, int maxRetries, Duration deadline, Set<String> testHosts) {
        URI address = addressOf(baseUrl);
        if (address.getPath().matches(".*/v1/*"))
            throw new IllegalArgumentException("baseUrl ends in /v1, which the client adds itself.");
        boolean isLoopback = address.getHost().matches("localhost|\\[::1]|127(\\.[0-9]{1,3}){3}");
        if (!"https".equals(address.getScheme()) && !("http".equals(address.getScheme()) && (isLoopback || testHosts.contains(address.getHost()))))
            throw new IllegalArgumentException(
                "baseUrl is not https: the key would be readable on its way. Name the host of a test double in testHosts.");
        if (!apiKey.matches("ak_(test|live)_[A-Za-z0-9_-]+"))
            throw new IllegalArgumentException("apiKey is not an API key: ak_test_… or ak_live_…, and nothing around it.");
        if (timeout.compareTo(Duration.ZERO) <= 0 || deadline.compareTo(Duration.ZERO) <= 0 || maxRetries < 0)
            throw new IllegalArgumentException("timeout or deadline is not above 0, or maxRetries below 0.");
        this.baseUrl = baseUrl.replaceFirst("(?<!/)/+$", "");
        this.apiKey = apiKey;
        this.timeout = timeout;
        this.maxRetries = maxRetries;
        this.deadline = deadline;
    }

    private static URI addressOf(String baseUrl) {
        try {
            URI address = URI.create(baseUrl);
            if (address.getHost() != null && baseUrl.matches("[^?#@]*")) return address;
        } catch (IllegalArgumentException error) {
            // Its message contains the text, which may include a password.
        }
        throw new IllegalArgumentException("baseUrl is not an address, or has credentials, a query or a fragment.");
    }

    /** Sends a code as {@link #send(String, String, String, String)} does, with only a recipient. */
    public Send send(String to) throws OnecodeException {
        return send(to, null, null, null);
    }

    /**
     * Sends a code. The send is accepted, but not delivered yet. All but the recipient may be null; without an idempotency key it is a
     * new code. An interrupt ends the wait, and stays set.
     *
     * @throws ProblemException when the service refused it
     * @throws ConnectionException when the last try got no response
     */
    public Send send(String to, String code, String locale, String idempotencyKey) throws OnecodeException {
        String key = idempotencyKey == null || idempotencyKey.matches("[ \t]*") ? UUID.randomUUID().toString() : idempotencyKey;
        // HttpClient replaces characters outside ASCII with question marks.
        if (!key.matches("[\t -~]*")) throw new IllegalArgumentException("idempotencyKey is not one line of ASCII.");
        String body = "{\"to\":" + Json.quote(to)
            + (code == null ? "" : ",\"code\":" + Json.quote(code))
            + (locale == null ? "" : ",\"locale\":" + Json.quote(locale)) + "}";
        long end = System.nanoTime() + deadline.toNanos();
        for (int tries = 0; ; tries++) {
            Answer answer = exchange("POST", "/v1/send", "/v1/send", body, key, msUntil(end));
            Send send = answer.send(202);
            if (send != null) return send;
            // Half of it is random, so that callers that failed together do not retry together.
            double waitMs = Math.min(500 * Math.pow(2, tries), 10_000) * ThreadLocalRandom.current().nextDouble(0.5, 1);
            boolean isRepeated = answer.isOpen();
            Integer retryAfterSeconds = answer.facts.retryAfterSeconds;
            if (answer.status() == 429 && retryAfterSeconds != null) {
                isRepeated = retryAfterSeconds <= RETRY_AFTER_SECONDS_MAX;
                waitMs = retryAfterSeconds * 1000.0 + ThreadLocalRandom.current().nextInt(250);
            }
            if (!isRepeated || tries == maxRetries || waitMs >= msUntil(end) || !pause((long) waitMs)) throw answer.exception();
            // The process may have been suspended: the caller no longer expects a send.
            if (msUntil(end) <= 0) throw answer.exception();
        }
    }

    /** Reads a send, with one request. Never sign a user in on {@code read} or {@code verified}. */
    public Send status(String sendId) throws OnecodeException {
        Answer answer = exchange("GET", pathOf(sendId) + "/status", "/v1/send/{id}/status", null, null, deadline.toMillis());
        Send send = answer.send(200);
        if (send == null) throw answer.exception();
        return send;
    }

    /**
     * Verifies what the user typed (see {@link #normalizeCode}), with one request. Take the id from your own session, never from a browser.
     *
     * @throws IndeterminateVerificationException when the outcome is unknown
     * @throws ConnectionException when there was no connection and nothing was sent: the user can try again
     * @throws ProblemException when the service refused the request
     */
    public VerifyResult verify(String sendId, String code) throws OnecodeException {
        String body = "{\"code\":" + Json.quote(code) + "}";
        Answer answer = exchange("POST", pathOf(sendId) + "/verify", "/v1/send/{id}/verify", body, null, deadline.toMillis());
        VerifyResult result = answer.judgement();
        if (result != null) return result;
        OnecodeException error = answer.exception();
        // A problem below 500 means that the code was not checked.
        boolean isRefusal = error instanceof ProblemException && answer.status() < 500;
        if (isRefusal || !answer.isSent) throw error;
        throw new IndeterminateVerificationException(sendId, error);
    }

    /**
     * Verifies what the user typed against the session's newest send, then the one before: users often type the first code to arrive.
     * A wrong code counts as one guess on each of them. After an IndeterminateVerificationException, drop all ids.
     *
     * @param sendIds one or two, as {@link #addSendId} returns them
     * @return the result of the send with that code, or else of the newest send that can still be verified
     * @throws OnecodeException as in {@link #verify}
     */
    public VerifyResult verifyLatest(List<String> sendIds, String code) throws OnecodeException {
        if (sendIds.isEmpty() || sendIds.size() > 2)
            throw new IllegalArgumentException("verifyLatest needs the ids of one or two sends, the newest first.");
        VerifyResult latest = null;
        for (String sendId : sendIds) {
            VerifyResult result = verify(sendId, code);
            // Verified now or before: an older code must not start another sign-in.
            if (result.verification.equals("verified")) return result;
            if (latest == null || (!latest.verification.equals("pending") && result.verification.equals("pending"))) latest = result;
        }
        return latest;
    }

    /** Returns the ids of a session's two latest sends to one number, the newest first, for {@link #verifyLatest}. */
    public static List<String> addSendId(List<String> sendIds, String sendId) {
        List<String> ids = new ArrayList<>(List.of(sendId));
        for (String one : sendIds) if (ids.size() < 2 && !ids.contains(one)) ids.add(one);
        return ids;
    }

    /** Returns a typed or pasted code for {@code verify}: without spaces, dashes and invisible characters, with all digits as 0 to 9. */
    public static String normalizeCode(String typed) {
        StringBuilder code = new StringBuilder();
        typed.replaceAll("[\\p{Z}\\p{C}\\p{Pd}\\x{2212}]", "").codePoints().forEach(c -> {
            int digit = Character.digit(c, 10);
            code.appendCodePoint(digit < 0 ? c : '0' + digit);
        });
        return code.toString();
    }

    private static String pathOf(String sendId) {
        if (List.of("", ".", "..").contains(sendId)) throw new IllegalArgumentException("This is not the id of a send.");
        return "/v1/send/" + URLEncoder.encode(sendId, UTF_8).replace("+", "%20");
    }

    /** @return false when the thread was interrupted */
    private static boolean pause(long ms) {
        try {
            Thread.sleep(ms);
            return true;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static long msUntil(long nanoTime) {
        return (nanoTime - System.nanoTime()) / 1_000_000;
    }

    /** Makes one request. */
    private Answer exchange(String method, String path, String route, String body, String idempotencyKey, long leftMs) {
        long limitMs = Math.min(timeout.toMillis(), leftMs);
        AtomicReference<InputStream> bytes = new AtomicReference<>(body == null ? null : new ByteArrayInputStream(body.getBytes(UTF_8)));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(baseUrl + path))
            .header("Authorization", "Bearer " + apiKey)
            .header("User-Agent", "onecode-java")
            .method(method, body == null ? BodyPublishers.noBody() : once(bytes, body.getBytes(UTF_8).length));
        if (body != null) request.header("Content-Type", "application/json");
        if (idempotencyKey != null) request.header("Idempotency-Key", idempotencyKey);
        // Discard a body that is too long.
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        CompletableFuture<HttpResponse<Void>> future = client.sendAsync(request.build(), BodyHandlers.ofByteArrayConsumer(part -> {
            if (text.size() <= ANSWER_BYTES_MAX) part.ifPresent(text::writeBytes);
        }));
        String reason;
        boolean isSent = true;
        try {
            // A request's own timeout ends with the headers. This one also covers the body.
            HttpResponse<Void> response = future.get(limitMs, TimeUnit.MILLISECONDS);
            if (text.size() <= ANSWER_BYTES_MAX) return Answer.of(method + " " + route, response, text.toByteArray(), idempotencyKey);
            reason = "the answer is too long";
        } catch (ExecutionException error) {
            reason = "no whole answer (" + error.getCause().getClass().getSimpleName() + ")";
            isSent = !(error.getCause() instanceof ConnectException) || bytes.get() == null;
        } catch (TimeoutException error) {
            reason = "no answer within " + limitMs + " ms";
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            reason = "interrupted";
        } finally {
            // Ends the exchange if it is still running.
            future.cancel(true);
        }
        return new Answer(method + " " + route + ": " + reason, new Facts(null, null, null, idempotencyKey), Map.of(), isSent);
    }

    /**
     * A body that can be read only once. HttpClient repeats some requests by itself when a connection turns out dead, including a POST if
     * the program sets jdk.httpclient.enableAllMethodRetry. It cannot send a body twice that it cannot read twice.
     */
    private static BodyPublisher once(AtomicReference<InputStream> body, int length) {
        return BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> body.getAndSet(null)), length);
    }

    /**
     * A response, complete or not. It has fields only if it is JSON of the media type for its status, because proxies send their own
     * responses.
     */
    private record Answer(String message, Facts facts, Map<?, ?> fields, boolean isSent) {
        static Answer of(String request, HttpResponse<?> response, byte[] text, String idempotencyKey) {
            int status = response.statusCode();
            String retryAfter = response.headers().firstValue("Retry-After").orElse("");
            Integer seconds = retryAfter.matches("[0-9]{1,9}") ? Integer.valueOf(retryAfter) : null;
            Facts facts = new Facts(status, response.headers().firstValue("X-Request-Id").orElse(null), seconds, idempotencyKey);
            String mediaType = response.headers().firstValue("Content-Type").orElse("").replaceFirst(";.*", "").strip();
            boolean isOurs = mediaType.equalsIgnoreCase(status < 400 ? "application/json" : "application/problem+json");
            String message = request + ": an answer with " + status + " that is not the service's";
            return new Answer(message, facts, isOurs && Json.read(text) instanceof Map<?, ?> fields ? fields : Map.of(), true);
        }

        int status() {
            return facts.status == null ? 0 : facts.status;
        }

        /** Whether to retry a create request, because its outcome is unknown or the fault is temporary. */
        boolean isOpen() {
            return List.of(0, 408, 425, 500).contains(status()) || status() >= 502 || (status() >= 200 && status() < 300);
        }

        /** Returns the send in a response with this status, or null. */
        Send send(int status) {
            if (status() != status || !STATUSES.contains(text("status")) || !VERIFICATIONS.contains(text("verification"))) return null;
            if (text("id").isEmpty() || !Set.of("test", "live").contains(text("mode"))) return null;
            try {
                Send send = new Send(
                    text("id"), text("status"), text("verification"), text("mode"), textOrNull("channel"), textOrNull("from"),
                    time("expires_at"), time("created_at"), time("sent_at"), time("delivered_at"), time("read_at"), time("verified_at"),
                    time("failed_at"), textOrNull("failure_reason"));
                return send.expiresAt == null || send.createdAt == null ? null : send;
            } catch (DateTimeException error) {
                return null;
            }
        }

        /** Returns the verification result, or null. {@code valid} must be JSON's true, with the other fields as in the contract. */
        VerifyResult judgement() {
            String verification = text("verification");
            if (status() != 200 || !VERIFICATIONS.contains(verification)) return null;
            if (!(fields.get("valid") instanceof Boolean valid) || !(fields.get("attempts_left") instanceof Double left)) return null;
            if (!List.of(0.0, 1.0, 2.0, 3.0, 4.0, 5.0).contains(left)) return null;
            if (valid && !(verification.equals("verified") && left == 0)) return null;
            return new VerifyResult(valid, verification, left.intValue());
        }

        /** Returns the problem in a response, or an error that the response is not from the service. */
        OnecodeException exception() {
            String code = text("code");
            boolean isProblem = status() >= 400 && Double.valueOf(status()).equals(fields.get("status")) && code.matches("[a-z_]+");
            if (!isProblem) return new ConnectionException(message, facts);
            Map<String, String> errors = new HashMap<>();
            if (fields.get("errors") instanceof Map<?, ?> given)
                given.forEach((name, value) -> errors.put(String.valueOf(name), String.valueOf(value)));
            return new ProblemException(code, textOrNull("detail"), errors, facts);
        }

        /** Empty if there is none. */
        String text(String name) {
            return fields.get(name) instanceof String text ? text : "";
        }

        String textOrNull(String name) {
            return fields.get(name) instanceof String text ? text : null;
        }

        Instant time(String name) {
            return fields.get(name) instanceof String text ? Instant.parse(text) : null;
        }
    }

    /** JSON (RFC 8259), which the standard library does not read. */
    private static final class Json {
        private static final int DEPTH_MAX = 64;
        private static final Pattern LITERAL = Pattern.compile("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
        private final String text;
        private int at = 0;

        private Json(String text) {
            this.text = text;
        }

        /** Map, List, String, Double, Boolean or null; also null if the text is not JSON in UTF-8. */
        static Object read(byte[] bytes) {
            try {
                // A decoder refuses invalid UTF-8, which a String would replace.
                Json json = new Json(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
                Object value = json.value(0);
                json.peek();
                return json.at == json.text.length() ? value : null;
            } catch (CharacterCodingException | IllegalArgumentException | IndexOutOfBoundsException error) {
                return null;
            }
        }

        static String quote(String text) {
            StringBuilder quoted = new StringBuilder("\"");
            for (char c : text.toCharArray())
                quoted.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
            return quoted.append('"').toString();
        }

        private Object value(int depth) {
            if (depth > DEPTH_MAX) throw new IllegalArgumentException();
            char first = peek();
            if (first == '"') return string();
            if (first != '{' && first != '[') return literal();
            Map<String, Object> members = new HashMap<>();
            List<Object> items = new ArrayList<>();
            char close = first == '{' ? '}' : ']';
            at++;
            if (peek() != close) {
                do {
                    if (close == '}') {
                        peek();
                        String name = string();
                        take(':');
                        members.put(name, value(depth + 1));
                    } else items.add(value(depth + 1));
                } while (peek() == ',' && at++ >= 0);
            }
            take(close);
            return close == '}' ? members : items;
        }

        private Object literal() {
            Matcher literal = LITERAL.matcher(text).region(at, text.length());
            if (!literal.lookingAt()) throw new IllegalArgumentException();
            at = literal.end();
            return switch (literal.group()) {
                case "true" -> true;
                case "false" -> false;
                case "null" -> null;
                default -> Double.valueOf(literal.group());
            };
        }

        private String string() {
            take('"');
            StringBuilder read = new StringBuilder();
            for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
                if (c < ' ') throw new IllegalArgumentException();
                if (c != '\\') read.append(c);
                else if ((c = text.charAt(at++)) == 'u') read.append((char) HexFormat.fromHexDigits(text, at, at += 4));
                else read.append("\"\\/\b\f\n\r\t".charAt("\"\\/bfnrt".indexOf(c)));
            }
            return read.toString();
        }

        /** Returns the next character that is not a space, or 0 at the end. */
        private char peek() {
            while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
            return at < text.length() ? text.charAt(at) : 0;
        }

        private void take(char c) {
            if (peek() != c) throw new IllegalArgumentException();
            at++;
        }
    }
}
