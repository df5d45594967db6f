import java.text.ParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** JSON (RFC 8259), which the standard library does not read. */
final class Json {
    private static final int DEPTH_MAX = 64;

    private final String text;
    private int at = 0;
    private int depth = 0;

    private Json(String text) {
        this.text = text;
    }

    /** Reads a whole text: Map, List, String, Double, Boolean or null. Of members with one name the last counts. */
    static Object parse(String text) throws ParseException {
        Json json = new Json(text);
        Object value = json.value();
        json.skipSpace();
        if (json.at < text.length()) throw json.unexpected();
        return value;
    }

    /** A text as a JSON string. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ') quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }

    private Object value() throws ParseException {
        skipSpace();
        switch (peek()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() throws ParseException {
        enter('{');
        Map<String, Object> members = new HashMap<>();
        if (!next('}')) {
            do {
                skipSpace();
                String name = string();
                skipSpace();
                expect(':');
                members.put(name, value());
            } while (next(','));
            expect('}');
        }
        depth--;
        return members;
    }

    private List<Object> array() throws ParseException {
        enter('[');
        List<Object> items = new ArrayList<>();
        if (!next(']')) {
            do items.add(value());
            while (next(','));
            expect(']');
        }
        depth--;
        return items;
    }

    /** Nesting uses the stack, which an answer could exhaust. */
    private void enter(char open) throws ParseException {
        if (++depth > DEPTH_MAX) throw unexpected();
        expect(open);
    }

    private String string() throws ParseException {
        expect('"');
        StringBuilder read = new StringBuilder();
        while (peek() != '"') {
            char c = take();
            if (c < ' ') throw unexpected();
            read.append(c == '\\' ? escaped() : c);
        }
        at++;
        return read.toString();
    }

    private char escaped() throws ParseException {
        char c = take();
        switch (c) {
            case '"', '\\', '/':
                return c;
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                return unicode();
            default:
                throw unexpected();
        }
    }

    private char unicode() throws ParseException {
        int code = 0;
        for (int digits = 0; digits < 4; digits++) {
            char c = take();
            if (!HexFormat.isHexDigit(c)) throw unexpected();
            code = code * 16 + HexFormat.fromHexDigit(c);
        }
        return (char) code;
    }

    private Double number() throws ParseException {
        int start = at;
        if (peek() == '-') at++;
        if (peek() == '0') at++;
        else digits();
        if (peek() == '.') {
            at++;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            at++;
            if (peek() == '+' || peek() == '-') at++;
            digits();
        }
        return Double.valueOf(text.substring(start, at));
    }

    private void digits() throws ParseException {
        if (!isDigit(peek())) throw unexpected();
        while (isDigit(peek())) at++;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private Object word(String word, Object value) throws ParseException {
        if (!text.startsWith(word, at)) throw unexpected();
        at += word.length();
        return value;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
    }

    /** Skips spaces, and the character where it is there. */
    private boolean next(char c) {
        skipSpace();
        boolean isThere = peek() == c;
        if (isThere) at++;
        return isThere;
    }

    private void expect(char c) throws ParseException {
        if (take() != c) throw unexpected();
    }

    private char take() throws ParseException {
        if (at == text.length()) throw unexpected();
        return text.charAt(at++);
    }

    /** The next character, or 0 at the end, where JSON allows no 0 outside strings and refuses it in them. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private ParseException unexpected() {
        return new ParseException("no JSON", at);
    }
}
