import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import onecode.Onecode;

/** Makes the calls that its standard input asks for, one a line and form-encoded, and prints what comes of each as JSON. */
final class Driver {
    private static Onecode client;

    private static Object run(Map<String, String> given) throws Onecode.OnecodeException {
        String sendId = given.get("sendId");
        switch (given.get("call")) {
            case "verify":
                return client.verify(sendId, Onecode.normalizeCode(given.get("code")));
            case "verifyLatest":
                List<String> ids = List.of();
                for (String id : given.get("sendIds").split(" ")) if (!id.isEmpty()) ids = Onecode.addSendId(ids, id);
                return client.verifyLatest(ids, given.get("code"));
            case "status":
                return client.status(sendId);
            case "send":
                return client.send(given.get("to"), given.get("code"), given.get("locale"), given.get("idempotencyKey"));
            default:
                Duration timeout = Duration.ofMillis(Long.parseLong(given.get("timeoutMs")));
                Duration deadline = Duration.ofMillis(Long.parseLong(given.get("deadlineMs")));
                int maxRetries = Integer.parseInt(given.get("maxRetries"));
                Set<String> hosts = Set.of(given.getOrDefault("testHosts", "none").split(" "));
                client = new Onecode(given.get("baseUrl"), given.get("apiKey"), timeout, maxRetries, deadline, hosts);
                return null;
        }
    }

    /** Records and exceptions by their public parts. */
    private static String json(Object value) throws ReflectiveOperationException {
        if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        Map<Object, Object> members = new TreeMap<>();
        if (value instanceof Record record)
            for (RecordComponent part : record.getClass().getRecordComponents()) members.put(part.getName(), part.getAccessor().invoke(record));
        else if (value instanceof Exception error)
            for (Field field : error.getClass().getFields()) members.put(field.getName(), field.get(error));
        else if (value instanceof Map<?, ?> map) members.putAll(map);
        else return '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t") + '"';
        StringBuilder text = new StringBuilder();
        for (Map.Entry<Object, Object> member : members.entrySet())
            text.append(text.isEmpty() ? "" : ",").append(json(member.getKey())).append(':').append(json(member.getValue()));
        return "{" + text + "}";
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, String> given = new HashMap<>();
            for (String pair : line.split("&")) given.put(pair.split("=")[0], URLDecoder.decode(pair.substring(pair.indexOf('=') + 1), UTF_8));
            StringWriter trace = new StringWriter();
            Object result;
            try {
                result = run(given);
            } catch (Exception error) {
                error.printStackTrace(new PrintWriter(trace));
                result = error;
            }
            String type = result == null ? "made" : result.getClass().getSimpleName();
            Map<String, Object> answer = new HashMap<>(Map.of("type", type));
            answer.put("value", result);
            if (result instanceof Exception) answer.put("shown", trace + " " + client);
            System.out.println(json(answer));
        }
    }
}
