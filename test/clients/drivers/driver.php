<?php
// Does what its standard input asks for with the client: a call a line, form-encoded, and so each answer.
declare(strict_types=1);
require $argv[1];
ini_set('display_errors', 'stderr');

function run(array $given): array
{
    global $client;
    if ($given['call'] === 'new') {
        $client = new Onecode\Client($given['baseUrl'], $given['apiKey'], $given['timeoutMs'] / 1000, (int) $given['maxRetries']);
        return ['outcome' => 'made'];
    }
    if ($given['call'] === 'verify') {
        $result = $client->verify($given['sendId'], $given['code']);
        $valid = $result->valid === true ? 'true' : 'false';
        return ['outcome' => 'judgement', 'valid' => $valid, 'verification' => $result->verification, 'attemptsLeft' => $result->attemptsLeft];
    }
    $send = $given['call'] === 'status'
        ? $client->status($given['sendId'])
        : $client->send($given['to'], $given['code'] ?? null, $given['locale'] ?? null, $given['idempotencyKey'] ?? null);
    return [
        'outcome' => 'send', 'id' => $send->id, 'status' => $send->status, 'verification' => $send->verification, 'mode' => $send->mode,
        'channel' => $send->channel, 'from' => $send->from, 'failure_reason' => $send->failureReason,
        'expires_at' => $send->expiresAt->format('Uv'), 'sent_at' => $send->sentAt?->format('Uv'),
    ];
}

function failure(Throwable $error): array
{
    global $client;
    // Of this program's own calls the arguments are no secret.
    $trace = array_filter($error->getTrace(), fn ($call) => isset($call['class']));
    $shown = ['shown' => "$error " . print_r($trace, true) . print_r($client, true)];
    if (!$error instanceof Onecode\OnecodeException)
        return ['outcome' => $error instanceof InvalidArgumentException ? 'mistake' : 'bug', ...$shown];
    $facts = [
        'status' => $error->status, 'requestId' => $error->requestId, 'retryAfterSeconds' => $error->retryAfterSeconds,
        'idempotencyKey' => $error->idempotencyKey, ...$shown,
    ];
    if ($error instanceof Onecode\IndeterminateVerificationException)
        return ['outcome' => 'indeterminate', 'sendId' => $error->sendId, ...$facts];
    if ($error instanceof Onecode\ConnectionException) return ['outcome' => 'connection', ...$facts];
    $answer = ['outcome' => 'problem', 'code' => $error->problemCode, 'detail' => $error->detail, ...$facts];
    foreach ($error->errors as $name => $text) $answer["errors.$name"] = $text;
    return $answer;
}

while (($line = fgets(STDIN)) !== false) {
    $given = [];
    foreach (explode('&', trim($line)) as $pair) {
        [$name, $value] = explode('=', $pair);
        $given[$name] = urldecode($value);
    }
    try {
        $answer = run($given);
    } catch (Throwable $error) {
        $answer = failure($error);
    }
    echo http_build_query($answer), "\n";
}
