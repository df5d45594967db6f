import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import onecode.Onecode;

/** Does what its standard input asks for with the client: a call a line, form-encoded, and so each answer. */
final class Driver {
    private static Onecode client;

    private static void run(Map<String, String> given, Map<String, Object> answer) throws Onecode.OnecodeException {
        Onecode.Send send;
        switch (given.get("call")) {
            case "new":
                Duration timeout = Duration.ofMillis(Long.parseLong(given.get("timeoutMs")));
                client = new Onecode(given.get("baseUrl"), given.get("apiKey"), timeout, Integer.parseInt(given.get("maxRetries")));
                answer.put("outcome", "made");
                return;
            case "verify":
                Onecode.VerifyResult result = client.verify(given.get("sendId"), given.get("code"));
                answer.put("outcome", "judgement");
                answer.put("valid", result.valid());
                answer.put("verification", result.verification());
                answer.put("attemptsLeft", result.attemptsLeft());
                return;
            case "status":
                send = client.status(given.get("sendId"));
                break;
            default:
                send = client.send(given.get("to"), given.get("code"), given.get("locale"), given.get("idempotencyKey"));
        }
        answer.put("outcome", "send");
        answer.put("id", send.id());
        answer.put("status", send.status());
        answer.put("verification", send.verification());
        answer.put("mode", send.mode());
        answer.put("channel", send.channel());
        answer.put("from", send.from());
        answer.put("failure_reason", send.failureReason());
        answer.put("expires_at", send.expiresAt().toEpochMilli());
        answer.put("sent_at", send.sentAt() == null ? null : send.sentAt().toEpochMilli());
    }

    private static void tell(Exception error, Map<String, Object> answer) {
        StringWriter trace = new StringWriter();
        error.printStackTrace(new PrintWriter(trace));
        answer.put("shown", error + " " + trace + " " + client);
        answer.put("outcome", error instanceof IllegalArgumentException ? "mistake" : "bug");
        if (!(error instanceof Onecode.OnecodeException failure)) return;
        answer.put("outcome", "connection");
        answer.put("status", failure.facts.status());
        answer.put("requestId", failure.facts.requestId());
        answer.put("retryAfterSeconds", failure.facts.retryAfterSeconds());
        answer.put("idempotencyKey", failure.facts.idempotencyKey());
        if (error instanceof Onecode.IndeterminateVerificationException unknown) {
            answer.put("outcome", "indeterminate");
            answer.put("sendId", unknown.sendId);
        } else if (error instanceof Onecode.ProblemException problem) {
            answer.put("outcome", "problem");
            answer.put("code", problem.code);
            answer.put("detail", problem.detail);
            problem.errors.forEach((name, text) -> answer.put("errors." + name, text));
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, String> given = new HashMap<>();
            for (String pair : line.split("&")) given.put(pair.split("=")[0], URLDecoder.decode(pair.substring(pair.indexOf('=') + 1), UTF_8));
            Map<String, Object> answer = new HashMap<>();
            try {
                run(given, answer);
            } catch (Exception error) {
                tell(error, answer);
            }
            StringBuilder form = new StringBuilder();
            answer.forEach((name, value) -> {
                if (value != null) form.append('&').append(name).append('=').append(URLEncoder.encode(value.toString(), UTF_8));
            });
            System.out.println(form.substring(1));
        }
    }
}
