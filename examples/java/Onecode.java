import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.text.ParseException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Onecode with the standard library: a creation is repeated with one key and one body, a verification never. */
final class Onecode {
    private static final int TRIES_MAX = 4;
    private static final int FIRST_WAIT_MS = 500;
    private static final int RETRY_AFTER_SECONDS_MAX = 30;
    /** The contract's answers have less than a kilobyte. */
    private static final int ANSWER_BYTES_MAX = 256 * 1024;
    private static final Set<Integer> REPEATED = Set.of(202, 500, 502, 503, 504);
    private static final Set<String> VERIFICATIONS = Set.of("pending", "expired", "locked", "verified");

    static {
        // Shorter than any server keeps an idle connection: a verification hardly ever meets one that is dead. It must be set before
        // the program's first HttpClient.
        System.setProperty("jdk.httpclient.keepalive.timeout", "1");
    }

    /** The service refused the request with a problem. */
    @SuppressWarnings("serial")
    static final class Refused extends Exception {
        final int status;

        Refused(int status) {
            super("refused with " + status);
            this.status = status;
        }
    }

    /** No answer says what became of the request. */
    @SuppressWarnings("serial")
    static final class Unknown extends Exception {
        Unknown(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** The answer to a verification. */
    record Judgement(boolean valid, String verification, int attemptsLeft) {}

    private final String url;
    private final String key;
    private final Duration timeout;
    private final HttpClient client;

    /** Takes the time that a whole exchange may last, the answer's body included. One object serves all requests of a program. */
    Onecode(String url, String key, Duration timeout) {
        this.url = url;
        this.key = key;
        this.timeout = timeout;
        client = HttpClient.newBuilder()
            // HTTP/2 has repeats of its own, after GOAWAY and REFUSED_STREAM, and over http begins with an upgrade.
            .version(HttpClient.Version.HTTP_1_1)
            // A redirect is no answer, and the key goes to no other host.
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    }

    static String newKey() {
        return UUID.randomUUID().toString();
    }

    /** Sends a code and returns the send's id. After Unknown, the same key goes on with the same send. */
    String send(String to, String idempotencyKey) throws Refused, Unknown {
        byte[] body = ("{\"to\":" + Json.quote(to) + "}").getBytes(UTF_8);
        for (int tries = 1; ; tries++) {
            long waitMs = growingWaitMs(tries);
            Answer answer = null;
            Unknown unknown;
            try {
                answer = exchange("POST", "/v1/send", body, idempotencyKey);
                unknown = answer.unknown();
            } catch (Unknown error) {
                unknown = error;
            }
            if (answer != null) {
                int status = answer.status();
                if (status == 202 && answer.fields().get("id") instanceof String id && !id.isEmpty()) return id;
                if (status == 429 && answer.isShortLimit() && tries < TRIES_MAX) waitMs = answer.retryAfterSeconds() * 1000L;
                else if (answer.isProblem() && !REPEATED.contains(status)) throw new Refused(status);
                else if (!REPEATED.contains(status)) throw unknown;
            }
            if (tries == TRIES_MAX) throw unknown;
            pause(waitMs);
        }
    }

    /** Verifies with one request and never a second. Only `valid` as JSON true signs anybody in. */
    Judgement verify(String sendId, String code) throws Refused, Unknown {
        byte[] body = ("{\"code\":" + Json.quote(code) + "}").getBytes(UTF_8);
        Answer answer = exchange("POST", pathOf(sendId) + "/verify", body, null);
        Map<?, ?> fields = answer.fields();
        int status = answer.status();
        if (answer.isProblem() && status < 500) throw new Refused(status);
        if (status == 200
            && fields.get("valid") instanceof Boolean valid
            && fields.get("verification") instanceof String verification
            && fields.get("attempts_left") instanceof Double left
            && VERIFICATIONS.contains(verification)
            && List.of(0.0, 1.0, 2.0, 3.0, 4.0, 5.0).contains(left)
            && (!valid || (verification.equals("verified") && left == 0))) return new Judgement(valid, verification, left.intValue());
        throw answer.unknown();
    }

    /** Reads the send's status, null where there is none; it signs nobody in. */
    String status(String sendId) throws Unknown {
        Answer answer = exchange("GET", pathOf(sendId) + "/status", null, null);
        return answer.status() == 200 && answer.fields().get("status") instanceof String status ? status : null;
    }

    private static String pathOf(String sendId) {
        return "/v1/send/" + URLEncoder.encode(sendId, UTF_8).replace("+", "%20");
    }

    /**
     * A whole answer: the JSON object of a result, or no fields where the answer is none, because proxies have answers of their own; and
     * the seconds to wait, or -1.
     */
    private record Answer(int status, int retryAfterSeconds, Map<?, ?> fields, boolean isProblem) {
        static Answer of(HttpResponse<byte[]> response) {
            int status = response.statusCode();
            String retryAfter = response.headers().firstValue("Retry-After").orElse("");
            int seconds = retryAfter.matches("[0-9]{1,2}") ? Integer.parseInt(retryAfter) : -1;
            String mediaType = response.headers().firstValue("Content-Type").orElse("").replaceFirst(";.*", "").strip().toLowerCase(Locale.ROOT);
            Map<?, ?> fields = fieldsOf(response.body());
            boolean isProblem = mediaType.equals("application/problem+json")
                && status >= 400
                && fields.get("code") instanceof String
                && Double.valueOf(status).equals(fields.get("status"));
            return new Answer(status, seconds, mediaType.equals("application/json") ? fields : Map.of(), isProblem);
        }

        boolean isShortLimit() {
            return retryAfterSeconds >= 0 && retryAfterSeconds <= RETRY_AFTER_SECONDS_MAX;
        }

        Unknown unknown() {
            return new Unknown("answered with " + status, null);
        }
    }

    /** Makes one request. Throws Unknown where no whole answer came. */
    private Answer exchange(String method, String path, byte[] body, String idempotencyKey) throws Unknown {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + key);
        if (body == null) request.method(method, BodyPublishers.noBody());
        else request.method(method, once(body)).header("Content-Type", "application/json");
        if (idempotencyKey != null) request.header("Idempotency-Key", idempotencyKey);
        // The timeout of a request ends with its headers. This one covers the body too.
        CompletableFuture<HttpResponse<byte[]>> future = client.sendAsync(request.build(), headers -> new Limited());
        try {
            return Answer.of(future.get(timeout.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException error) {
            throw new Unknown("no whole answer", error.getCause());
        } catch (TimeoutException error) {
            throw new Unknown("no whole answer in time", error);
        } catch (InterruptedException error) {
            throw interrupted(error);
        } finally {
            // Ends what is still under way.
            future.cancel(true);
        }
    }

    private static Map<?, ?> fieldsOf(byte[] body) {
        try {
            // A decoder refuses what is no UTF-8, which a String would replace.
            Object parsed = Json.parse(UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
            return parsed instanceof Map<?, ?> fields ? fields : Map.of();
        } catch (ParseException | CharacterCodingException error) {
            return Map.of();
        }
    }

    /**
     * A body that is read once. HttpClient makes some requests a second time by itself, on connections that turn out dead: a POST too
     * where a program sets jdk.httpclient.enableAllMethodRetry. What it cannot read twice, it cannot send twice.
     */
    private static BodyPublisher once(byte[] body) {
        AtomicReference<InputStream> stream = new AtomicReference<>(new ByteArrayInputStream(body));
        return BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> stream.getAndSet(null)), body.length);
    }

    /** Reads an answer's body, up to a limit. */
    private static final class Limited implements BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();
        private final ByteArrayOutputStream read = new ByteArrayOutputStream();
        private Flow.Subscription subscription;

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(1);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                byte[] bytes = new byte[buffer.remaining()];
                buffer.get(bytes);
                read.writeBytes(bytes);
            }
            if (read.size() <= ANSWER_BYTES_MAX) {
                subscription.request(1);
            } else {
                subscription.cancel();
                body.completeExceptionally(new IOException("the answer is too long"));
            }
        }

        @Override
        public void onError(Throwable error) {
            body.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            body.complete(read.toByteArray());
        }
    }

    /** Half a second, doubled after each try, of which the second half is random: callers that failed together do not return together. */
    private static long growingWaitMs(int tries) {
        long halfMs = FIRST_WAIT_MS * (1L << (tries - 1)) / 2;
        return halfMs + ThreadLocalRandom.current().nextLong(halfMs);
    }

    private static void pause(long ms) throws Unknown {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException error) {
            throw interrupted(error);
        }
    }

    private static Unknown interrupted(InterruptedException error) {
        Thread.currentThread().interrupt();
        return new Unknown("interrupted", error);
    }
}
