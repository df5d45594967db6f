<?php
// Onecode with PHP alone: a creation is repeated with one key and one body, a verification never.
declare(strict_types=1);

/** The service refused the request; its HTTP status is the exception's code. */
class Refused extends Exception {}

/** No answer says what became of the request. */
class Unknown extends Exception {}

/** A whole answer. */
final class Answer
{
    /** The JSON object of a result, and [] where the answer is none: proxies have answers of their own. */
    public readonly array $fields;
    public readonly bool $isProblem;

    public function __construct(public readonly int $status, public readonly ?int $retryAfter, string $mediaType, string $text)
    {
        $json = json_decode($text);
        $fields = is_object($json) ? (array) $json : [];
        $this->fields = $mediaType === 'application/json' ? $fields : [];
        $this->isProblem = $mediaType === 'application/problem+json' && $status >= 400
            && ($fields['status'] ?? null) === $status && is_string($fields['code'] ?? null);
    }
}

final class Onecode
{
    private const TRIES = 4;
    private const REPEATED = [202, 500, 502, 503, 504];
    private const ATTEMPTS_MAX = 5;
    private const ANSWER_BYTES_MAX = 262144;

    public function __construct(private string $url, private string $key, private int $timeoutMs = 10000) {}

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
                $answer = $this->exchange('POST', '/v1/send', $body, "Idempotency-Key: $key");
            } catch (Unknown) {
                $answer = null; // The next try finds out.
            }
            if ($answer) {
                $id = $answer->fields['id'] ?? null;
                if ($answer->status === 202 && is_string($id) && $id !== '') return $id;
                $isWaited = $answer->status === 429 && $answer->retryAfter !== null && $answer->retryAfter <= 30;
                if ($isWaited && $tries < self::TRIES) $waitMs = $answer->retryAfter * 1000;
                elseif (!in_array($answer->status, self::REPEATED, true))
                    throw $answer->isProblem ? new Refused('refused', $answer->status) : new Unknown();
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
        $answer = $this->exchange('POST', '/v1/send/' . rawurlencode($sendId) . '/verify', $body);
        if ($answer->isProblem && $answer->status < 500) throw new Refused('refused', $answer->status);
        ['valid' => $valid, 'verification' => $verification, 'attempts_left' => $left] = $answer->fields
            + ['valid' => null, 'verification' => null, 'attempts_left' => null];
        $isWellFormed = $answer->status === 200 && is_bool($valid)
            && in_array($verification, ['pending', 'expired', 'locked', 'verified'], true)
            && is_int($left) && $left >= 0 && $left <= self::ATTEMPTS_MAX;
        if (!$isWellFormed || ($valid && ($verification !== 'verified' || $left !== 0))) throw new Unknown();
        return $answer->fields;
    }

    /** Reads the send's status, null where there is none; it signs nobody in. */
    public function status(string $sendId): ?string
    {
        $answer = $this->exchange('GET', '/v1/send/' . rawurlencode($sendId) . '/status');
        $status = $answer->fields['status'] ?? null;
        return $answer->status === 200 && is_string($status) ? $status : null;
    }

    /** Makes one request. Throws Unknown where no whole answer came in time. */
    private function exchange(string $method, string $path, string $body = '', string ...$headers): Answer
    {
        $url = parse_url($this->url);
        $port = isset($url['port']) ? ":{$url['port']}" : '';
        $lines = [
            "$method " . ($url['path'] ?? '') . "$path HTTP/1.1", "Host: {$url['host']}$port", "Authorization: Bearer $this->key",
            'Content-Type: application/json', 'Content-Length: ' . strlen($body), 'Connection: close', ...$headers,
        ];
        $isTls = $url['scheme'] === 'https';
        $address = ($isTls ? 'tls' : 'tcp') . "://{$url['host']}" . ($port ?: ($isTls ? ':443' : ':80'));
        $answer = $this->roundTrip($address, implode("\r\n", $lines) . "\r\n\r\n$body");
        [$head, $text] = explode("\r\n\r\n", $answer, 2) + ['', ''];
        if (!preg_match('#^HTTP/\S+ (\d{3})#', $head, $found)) throw new Unknown();
        if (preg_match('/^transfer-encoding: *chunked *\r?$/mi', $head)) $text = self::dechunked($text);
        $retryAfter = preg_match('/^retry-after: *(\d{1,6}) *\r?$/mi', $head, $waits) ? (int) $waits[1] : null;
        $type = preg_match('/^content-type: *([^;\s]+)/mi', $head, $named) ? strtolower($named[1]) : '';
        return new Answer((int) $found[1], $retryAfter, $type, $text);
    }

    /**
     * Writes a request and reads until the service closes. It has one deadline for all of it: the time-out of PHP's own HTTP
     * streams begins again with each byte.
     */
    private function roundTrip(string $address, string $request): string
    {
        $deadline = hrtime(true) + $this->timeoutMs * 1_000_000;
        $socket = @stream_socket_client($address, $code, $message, $this->timeoutMs / 1000);
        if ($socket === false) throw new Unknown();
        $answer = '';
        $written = @fwrite($socket, $request);
        while ($written === strlen($request) && strlen($answer) <= self::ANSWER_BYTES_MAX) {
            $leftUs = intdiv($deadline - hrtime(true), 1000);
            if ($leftUs <= 0) break;
            stream_set_timeout($socket, intdiv($leftUs, 1_000_000), $leftUs % 1_000_000);
            $bytes = @fread($socket, 8192);
            if (stream_get_meta_data($socket)['timed_out']) break;
            if ($bytes === '' || $bytes === false) return $answer;
            $answer .= $bytes;
        }
        throw new Unknown();
    }

    private static function dechunked(string $text): string
    {
        $stream = fopen('php://memory', 'w+');
        fwrite($stream, $text);
        rewind($stream);
        stream_filter_append($stream, 'dechunk', STREAM_FILTER_READ);
        return (string) stream_get_contents($stream);
    }
}
