<?php

// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

namespace Onecode;

/**
 * Onecode sends one-time codes over WhatsApp and verifies what users type. For PHP 8.1 or newer, without dependencies or curl.
 *
 *     require 'Onecode.php';
 *     $onecode = new Onecode\Client('https://api.example.com', $apiKey);
 *
 *     $send = $onecode->send('+447700900123');
 *     // Keep $send->id in this user's session. Never take it from the browser.
 *
 *     try {
 *         if ($onecode->verify($send->id, Onecode\Client::normalizeCode($typed))->valid) signIn(); // Only if this is true.
 *     } catch (Onecode\IndeterminateVerificationException) {
 *         // The code may be used up: offer a new code, with a new send.
 *     }
 *
 * `send` retries with the same key and the same bytes, so that one code is sent and one unit is used. `verify` makes a single request:
 * a second would get `valid: false` for a code that the first used up. Do not wrap either call in a retry.
 */
final class Client
{
    private const ANSWER_BYTES_MAX = 262144;
    private const RETRY_AFTER_SECONDS_MAX = 30;
    private readonly string $address;
    private readonly string $host;
    private readonly string $path;

    /**
     * @param float $timeoutSeconds the time for one try, including the DNS lookup. PHP connects to a host's addresses in order, and one
     *     that drops packets uses up the time: where IPv6 does not work, make the system prefer IPv4 (`/etc/gai.conf`)
     * @param int $maxRetries how often `send` tries again
     * @param float $deadlineSeconds the time for one call, with all its tries and the waits between them
     * @param string[] $testHosts hosts of a test double, such as a container's name, that may also use http. Never list the
     *     service there, because the key would be readable in transit
     */
    public function __construct(
        #[\SensitiveParameter] string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly float $timeoutSeconds = 10,
        private readonly int $maxRetries = 3,
        private readonly float $deadlineSeconds = 15,
        array $testHosts = [],
    ) {
        $url = parse_url($baseUrl);
        if ($url === false || !isset($url['scheme'], $url['host']) || preg_match('/[\s?#@]/', $baseUrl))
            throw new \InvalidArgumentException('baseUrl is not an address, or has credentials, a query or a fragment.');
        $this->path = rtrim($url['path'] ?? '', '/');
        if (str_ends_with($this->path, '/v1'))
            throw new \InvalidArgumentException('baseUrl ends in /v1, which the client adds itself.');
        $isTls = $url['scheme'] === 'https';
        $isLoopback = preg_match('/^(localhost|\[::1]|127(\.\d{1,3}){3})$/', $url['host']) === 1;
        $mayBeHttp = $isLoopback || in_array($url['host'], $testHosts, true);
        if (!$isTls && !($url['scheme'] === 'http' && $mayBeHttp))
            throw new \InvalidArgumentException(
                'baseUrl is not https: the key would be readable on its way. Name the host of a test double in testHosts.',
            );
        if (!preg_match('/^ak_(test|live)_[\w-]+$/D', $apiKey))
            throw new \InvalidArgumentException('apiKey is not an API key: ak_test_… or ak_live_…, and nothing around it.');
        if (!is_finite($timeoutSeconds + $deadlineSeconds) || min($timeoutSeconds, $deadlineSeconds) <= 0 || $maxRetries < 0)
            throw new \InvalidArgumentException('timeoutSeconds or deadlineSeconds is not above 0, or maxRetries below 0.');
        $this->host = $url['host'] . (isset($url['port']) ? ":{$url['port']}" : '');
        $this->address = ($isTls ? 'tls' : 'tcp') . "://{$url['host']}:" . ($url['port'] ?? ($isTls ? 443 : 80));
    }

    /**
     * Sends a code. The send is accepted, but not delivered yet. Without `$idempotencyKey` it is a new code.
     *
     * @throws ProblemException when the service refused it
     * @throws ConnectionException when the last try got no response
     */
    public function send(
        #[\SensitiveParameter] string $to,
        #[\SensitiveParameter] ?string $code = null,
        ?string $locale = null,
        ?string $idempotencyKey = null,
    ): Send {
        if ($idempotencyKey === null || trim($idempotencyKey, " \t") === '') {
            $idempotencyKey = bin2hex(random_bytes(16));
        }
        if (preg_match('/[\x00-\x08\x0a-\x1f\x7f]/', $idempotencyKey))
            throw new \InvalidArgumentException('idempotencyKey is not a text of one line.');
        $given = array_filter(['to' => $to, 'code' => $code, 'locale' => $locale], fn ($value) => $value !== null);
        $body = json_encode($given, JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        $end = hrtime(true) + $this->deadlineSeconds * 1e9;
        for ($tries = 0; ; $tries++) {
            $answer = $this->exchange('POST', '/v1/send', '/v1/send', $body, ["Idempotency-Key: $idempotencyKey"], $end);
            $send = $answer->send(202);
            if ($send !== null) return $send;
            // Half of it is random, so that callers that failed together do not retry together.
            $waitMs = min(500 * 2 ** $tries, 10_000) / 100 * random_int(50, 100);
            $isRepeated = $answer->isOpen();
            if ($answer->status === 429 && $answer->retryAfterSeconds !== null) {
                $isRepeated = $answer->retryAfterSeconds <= self::RETRY_AFTER_SECONDS_MAX;
                $waitMs = $answer->retryAfterSeconds * 1000 + random_int(0, 250);
            }
            if (!$isRepeated || $tries === $this->maxRetries || hrtime(true) + $waitMs * 1e6 >= $end) throw $answer->exception($idempotencyKey);
            usleep((int) ($waitMs * 1000));
            // The process may have been suspended: the caller no longer expects a send.
            if (hrtime(true) >= $end) throw $answer->exception($idempotencyKey);
        }
    }

    /**
     * Reads a send, with one request. Never sign a user in on `read` or `verified`.
     *
     * @throws ProblemException
     * @throws ConnectionException
     */
    public function status(string $sendId): Send
    {
        $answer = $this->exchange('GET', self::pathOf($sendId) . '/status', '/v1/send/{id}/status');
        return $answer->send(200) ?? throw $answer->exception();
    }

    /**
     * Verifies what the user typed (see `normalizeCode`), with one request. Take `$sendId` from your own session, never from a browser.
     *
     * @throws IndeterminateVerificationException when the outcome is unknown
     * @throws ConnectionException when there was no connection and nothing was sent: the user can try again
     * @throws ProblemException when the service refused the request
     */
    public function verify(string $sendId, #[\SensitiveParameter] string $code): VerifyResult
    {
        $body = json_encode(['code' => $code], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE);
        $answer = $this->exchange('POST', self::pathOf($sendId) . '/verify', '/v1/send/{id}/verify', $body);
        return $answer->judgement() ?? throw $answer->verifyException($sendId);
    }

    /**
     * Verifies what the user typed against the session's newest send, then the one before: users often type the first code to arrive.
     * A wrong code counts as one guess on each of them. After an IndeterminateVerificationException, drop all ids.
     *
     * @param string[] $sendIds one or two, as `addSendId` returns them
     * @return VerifyResult the result of the send with that code, or else of the newest send that can still be verified
     * @throws IndeterminateVerificationException, ConnectionException and ProblemException, as in `verify`
     */
    public function verifyLatest(array $sendIds, #[\SensitiveParameter] string $code): VerifyResult
    {
        if (count($sendIds) < 1 || count($sendIds) > 2)
            throw new \InvalidArgumentException('verifyLatest needs the ids of one or two sends, the newest first.');
        $pending = $first = null;
        foreach ($sendIds as $sendId) {
            $result = $this->verify($sendId, $code);
            // Verified now or before: an older code must not start another sign-in.
            if ($result->verification === 'verified') return $result;
            $first ??= $result;
            if ($result->verification === 'pending') $pending ??= $result;
        }
        return $pending ?? $first;
    }

    /**
     * Returns the ids of a session's two latest sends to one number, the newest first, for `verifyLatest`.
     *
     * @param string[] $sendIds
     * @return string[]
     */
    public static function addSendId(array $sendIds, string $sendId): array
    {
        return array_slice(array_values(array_unique([$sendId, ...$sendIds])), 0, 2);
    }

    /** Returns a typed or pasted code for `verify`: without spaces, dashes and invisible characters, with all digits as 0 to 9. */
    public static function normalizeCode(#[\SensitiveParameter] string $typed): string
    {
        $kept = preg_replace('/[\p{Z}\p{C}\p{Pd}\x{2212}]/u', '', $typed) ?? $typed;
        return preg_replace_callback('/(?![0-9])\p{Nd}/u', function (array $found) {
            // The digits of each script are consecutive from zero, and differ only in their last byte.
            $before = fn (string $digit) => substr($digit, 0, -1) . chr(ord($digit[-1]) - 1);
            for ($value = 0, $digit = $found[0]; preg_match('/^\p{Nd}$/u', $before($digit)); $value++) $digit = $before($digit);
            return (string) ($value % 10);
        }, $kept) ?? $typed;
    }

    /** Omits the API key. */
    public function __debugInfo(): array
    {
        return ['host' => $this->host, 'path' => $this->path];
    }

    private static function pathOf(string $sendId): string
    {
        if (in_array($sendId, ['', '.', '..'], true))
            throw new \InvalidArgumentException('This is not the id of a send.');
        return '/v1/send/' . rawurlencode($sendId);
    }

    /** Makes one request, on a new connection: a reused one may be dead. */
    private function exchange(
        string $method,
        string $path,
        string $route,
        #[\SensitiveParameter] string $body = '',
        array $headers = [],
        float $end = INF,
    ): Answer {
        $lines = [
            "$method $this->path$path HTTP/1.1", "Host: $this->host", "Authorization: Bearer $this->apiKey", 'User-Agent: onecode-php',
            'Content-Type: application/json', 'Content-Length: ' . strlen($body), 'Connection: close', ...$headers,
        ];
        $deadline = min(hrtime(true) + min($this->timeoutSeconds, $this->deadlineSeconds) * 1e9, $end);
        $text = $this->roundTrip(implode("\r\n", $lines) . "\r\n\r\n$body", $deadline, $reason, $isSent);
        return new Answer("$method $route", $text, $reason, $isSent);
    }

    /**
     * Writes a request and reads to the end. One deadline covers all of it, because a stream's timeout restarts with each byte.
     *
     * @param float $deadline by the clock of `hrtime`, in nanoseconds
     * @return string the response; '' if it is not complete, with the cause in `$reason`
     */
    private function roundTrip(#[\SensitiveParameter] string $request, float $deadline, ?string &$reason, ?bool &$isSent): string
    {
        $reason = 'no whole answer in time';
        $socket = @stream_socket_client($this->address, $code, $message, ($deadline - hrtime(true)) / 1e9);
        $isSent = $socket !== false;
        if ($socket === false) {
            // Only PHP's warning has the reason of a TLS failure.
            $reason = 'no connection: ' . ($message ?: error_get_last()['message'] ?? '');
            return '';
        }
        if (@fwrite($socket, $request) !== strlen($request)) return '';
        $answer = '';
        while (($leftUs = (int) (($deadline - hrtime(true)) / 1000)) > 0 && strlen($answer) <= self::ANSWER_BYTES_MAX) {
            stream_set_timeout($socket, intdiv($leftUs, 1_000_000), $leftUs % 1_000_000);
            $bytes = @fread($socket, 8192);
            if (stream_get_meta_data($socket)['timed_out']) return '';
            if ($bytes === '' || $bytes === false) return $answer;
            $answer .= $bytes;
        }
        return '';
    }
}

/** One code for one recipient. A field without a value yet is null. */
final class Send
{
    public function __construct(
        public readonly string $id,
        /** queued, sending, sent, delivered, read or failed */
        public readonly string $status,
        /** pending, verified, expired or locked */
        public readonly string $verification,
        /** test or live */
        public readonly string $mode,
        public readonly ?string $channel,
        public readonly ?string $from,
        public readonly \DateTimeImmutable $expiresAt,
        public readonly \DateTimeImmutable $createdAt,
        public readonly ?\DateTimeImmutable $sentAt,
        public readonly ?\DateTimeImmutable $deliveredAt,
        public readonly ?\DateTimeImmutable $readAt,
        public readonly ?\DateTimeImmutable $verifiedAt,
        public readonly ?\DateTimeImmutable $failedAt,
        public readonly ?string $failureReason,
    ) {}
}

/** The result of a verification. Sign the user in only on `valid`, which is true only once. */
final class VerifyResult
{
    public function __construct(
        public readonly bool $valid,
        /** pending, verified, expired or locked */
        public readonly string $verification,
        /** The number of wrong codes still allowed. */
        public readonly int $attemptsLeft,
    ) {}
}

/** The base class of request errors. A mistake in the call throws an InvalidArgumentException instead, and sends nothing. */
abstract class OnecodeException extends \RuntimeException
{
    public function __construct(
        string $message,
        public readonly ?int $status,
        public readonly ?string $requestId,
        public readonly ?int $retryAfterSeconds,
        /** Of a create request: retry with it and the same input to get the same send. */
        public readonly ?string $idempotencyKey,
    ) {
        parent::__construct($message);
    }
}

/** The service refused the request; no user was authenticated. Branch on `problemCode`; `detail` and `errors` (by field) may change. */
final class ProblemException extends OnecodeException
{
    /** @param array<string, string> $errors */
    public function __construct(
        public readonly string $problemCode,
        public readonly ?string $detail,
        public readonly array $errors,
        int $status,
        mixed ...$facts,
    ) {
        parent::__construct("$problemCode ($status)", $status, ...$facts);
    }
}

/** The service did not respond. After `send`, the send may exist: retry with `idempotencyKey` and the same input. After `verify`, nothing was sent. */
final class ConnectionException extends OnecodeException {}

/** The code may or may not have been checked. Do not verify it again: create a new send, unless you recorded it as valid. */
final class IndeterminateVerificationException extends OnecodeException
{
    public function __construct(public readonly string $sendId, OnecodeException $error)
    {
        parent::__construct($error->getMessage(), $error->status, $error->requestId, $error->retryAfterSeconds, null);
    }
}

/**
 * A response, complete or not.
 *
 * @internal
 */
final class Answer
{
    private const STATUSES = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed'];
    private const VERIFICATIONS = ['pending', 'verified', 'expired', 'locked'];
    /** Null if there was no complete response. */
    public readonly ?int $status;
    public readonly ?int $retryAfterSeconds;
    private readonly ?string $requestId;
    /** The JSON if it has the media type for the status, otherwise []: proxies send their own responses. */
    private readonly array $fields;

    public function __construct(
        private readonly string $request,
        string $text,
        private readonly string $reason,
        private readonly bool $isSent,
    ) {
        [$head, $body] = explode("\r\n\r\n", $text, 2) + ['', ''];
        $headers = [];
        foreach (explode("\r\n", $head) as $line) {
            [$name, $value] = explode(':', $line, 2) + ['', ''];
            $headers[strtolower($name)] = trim($value);
        }
        $this->status = preg_match('#^HTTP/1\.\d (\d{3})#', $head, $found) ? (int) $found[1] : null;
        $this->requestId = $headers['x-request-id'] ?? null;
        $retryAfter = $headers['retry-after'] ?? '';
        $this->retryAfterSeconds = preg_match('/^\d{1,9}$/D', $retryAfter) ? (int) $retryAfter : null;
        $json = json_decode(strtolower($headers['transfer-encoding'] ?? '') === 'chunked' ? self::dechunked($body) : $body);
        $mediaType = strtolower(trim(explode(';', $headers['content-type'] ?? '')[0]));
        $isOurs = is_object($json) && $mediaType === ($this->status < 400 ? 'application/json' : 'application/problem+json');
        $this->fields = $isOurs ? (array) $json : [];
    }

    /** Whether to retry a create request, because its outcome is unknown or the fault is temporary. */
    public function isOpen(): bool
    {
        return in_array($this->status, [null, 408, 425, 500], true) || $this->status >= 502 || ($this->status >= 200 && $this->status < 300);
    }

    /** Returns the send in a response with this status, or null. */
    public function send(int $status): ?Send
    {
        $fields = $this->fields + array_fill_keys(['id', 'status', 'verification', 'mode', 'channel', 'from', 'failure_reason'], null);
        $isKnown = in_array($fields['status'], self::STATUSES, true) && in_array($fields['verification'], self::VERIFICATIONS, true)
            && in_array($fields['mode'], ['test', 'live'], true);
        if ($this->status !== $status || !$isKnown || $fields['id'] === '') return null;
        $time = fn (string $name) => preg_match('/^\d{4}-\d\d-\d\dT/', (string) ($fields[$name] ?? ''))
            ? new \DateTimeImmutable($fields[$name]) : null;
        try {
            return new Send(
                $fields['id'], $fields['status'], $fields['verification'], $fields['mode'], $fields['channel'], $fields['from'],
                $time('expires_at'), $time('created_at'), $time('sent_at'), $time('delivered_at'), $time('read_at'), $time('verified_at'),
                $time('failed_at'), $fields['failure_reason'],
            );
        } catch (\Exception | \TypeError) {
            return null;
        }
    }

    /** Returns the verification result, or null. `valid` must be JSON's true, with the other fields as in the contract. */
    public function judgement(): ?VerifyResult
    {
        [$valid, $verification, $left] = array_map(
            fn (string $name) => $this->fields[$name] ?? null,
            ['valid', 'verification', 'attempts_left'],
        );
        $isJudgement = $this->status === 200 && is_bool($valid) && in_array($verification, self::VERIFICATIONS, true)
            && is_int($left) && $left >= 0 && $left <= 5;
        if (!$isJudgement || ($valid && ($verification !== 'verified' || $left !== 0))) return null;
        return new VerifyResult($valid, $verification, $left);
    }

    /** Returns the problem in a response, or an error that the response is not from the service. */
    public function exception(?string $idempotencyKey = null): ProblemException|ConnectionException
    {
        $facts = [$this->status, $this->requestId, $this->retryAfterSeconds, $idempotencyKey];
        $fields = $this->fields + ['status' => null, 'code' => null, 'detail' => null, 'errors' => null];
        $code = $fields['code'];
        if ($this->status >= 400 && $fields['status'] === $this->status && is_string($code) && preg_match('/^[a-z_]+$/D', $code)) {
            $detail = is_string($fields['detail']) ? $fields['detail'] : null;
            return new ProblemException($code, $detail, is_object($fields['errors']) ? (array) $fields['errors'] : [], ...$facts);
        }
        $what = $this->status === null ? $this->reason : "an answer with $this->status that is not the service's";
        return new ConnectionException("$this->request: $what", ...$facts);
    }

    /** Returns the error for a response without a result. A problem below 500 means that the code was not checked. */
    public function verifyException(string $sendId): OnecodeException
    {
        $error = $this->exception();
        $isRefusal = $error instanceof ProblemException && $error->status < 500;
        return $isRefusal || !$this->isSent ? $error : new IndeterminateVerificationException($sendId, $error);
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
