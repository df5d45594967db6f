<?php
// Onecode with PHP alone: a creation is repeated with one key and one body, a verification never.
declare(strict_types=1);

/** The service refused the request; its HTTP status is the exception's code. */
class Refused extends Exception {}

/** No answer says what became of the request. */
class Unknown extends Exception {}

final class Onecode
{
    private const TRIES = 4;
    private const REPEATED = [202, 500, 502, 503, 504];

    public function __construct(private string $url, private string $key) {}

    public static function newKey(): string
    {
        return bin2hex(random_bytes(16));
    }

    /** Sends a code and returns the send's id. After Unknown, the same key goes on with the same send. */
    public function send(string $to, string $key): string
    {
        $body = json_encode(['to' => $to], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        for ($tries = 1; ; $tries++) {
            $waitMs = 500 * 2 ** ($tries - 1) * random_int(50, 100) / 100;
            try {
                [$status, $retryAfter, $answer] = $this->exchange('POST', '/v1/send', $body, "Idempotency-Key: $key");
                if ($status === 202 && is_string($answer['id'] ?? null)) return $answer['id'];
                if ($status === 429 && $retryAfter !== null && $retryAfter <= 30 && $tries < self::TRIES)
                    $waitMs = $retryAfter * 1000;
                elseif (!in_array($status, self::REPEATED, true)) throw new Refused('refused', $status);
            } catch (Unknown) {
                // The next try finds out.
            }
            if ($tries === self::TRIES) throw new Unknown();
            usleep((int) ($waitMs * 1000));
        }
    }

    /**
     * Verifies with one request and never a second. Only `valid` as JSON true signs anybody in.
     * @return array{valid: bool, verification: string, attempts_left: int}
     */
    public function verify(string $sendId, string $code): array
    {
        $body = json_encode(['code' => $code], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        [$status, , $answer] = $this->exchange('POST', "/v1/send/$sendId/verify", $body);
        if ($status >= 400 && $status < 500 && is_string($answer['code'] ?? null)) throw new Refused('refused', $status);
        $verification = $answer['verification'] ?? null;
        $isWellFormed = $status === 200 && is_bool($answer['valid'] ?? null)
            && in_array($verification, ['pending', 'expired', 'locked', 'verified'], true);
        if (!$isWellFormed || ($answer['valid'] && $verification !== 'verified')) throw new Unknown();
        return $answer;
    }

    /** Reads the send's status; it signs nobody in. */
    public function status(string $sendId): ?string
    {
        return $this->exchange('GET', "/v1/send/$sendId/status")[2]['status'] ?? null;
    }

    /** Makes one request. @return array{int, ?int, array} status, seconds to wait, and the JSON object or [] */
    private function exchange(string $method, string $path, ?string $body = null, string ...$headers): array
    {
        $headers = [...$headers, "Authorization: Bearer $this->key", 'Content-Type: application/json', 'Connection: close'];
        $http = ['method' => $method, 'header' => $headers, 'timeout' => 10, 'follow_location' => 0, 'ignore_errors' => true];
        if ($body !== null) $http['content'] = $body;
        $text = @file_get_contents($this->url . $path, false, stream_context_create(['http' => $http]));
        $lines = $http_response_header ?? [];
        if ($text === false || !preg_match('#^HTTP/\S+ (\d{3})#', $lines[0] ?? '', $found)) throw new Unknown();
        $waits = preg_grep('/^retry-after: *\d{1,6} *$/i', $lines);
        $retryAfter = $waits ? (int) explode(':', reset($waits))[1] : null;
        $answer = json_decode($text, true);
        return [(int) $found[1], $retryAfter, is_array($answer) ? $answer : []];
    }
}
