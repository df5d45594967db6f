<?php
// Makes the calls that its standard input asks for, one a line and form-encoded, and prints what comes of each as JSON.
declare(strict_types=1);
require $argv[1];
ini_set('display_errors', 'stderr');

function run(array $given): ?object
{
    global $client;
    if ($given['call'] === 'verify') return $client->verify($given['sendId'], Onecode\Client::normalizeCode($given['code']));
    if ($given['call'] === 'verifyLatest') {
        $ids = [];
        foreach (array_filter(explode(' ', $given['sendIds'])) as $id) $ids = Onecode\Client::addSendId($ids, $id);
        return $client->verifyLatest($ids, $given['code']);
    }
    if ($given['call'] === 'status') return $client->status($given['sendId']);
    unset($given['call']);
    if (isset($given['to'])) return $client->send(...$given);
    $client = new Onecode\Client(
        $given['baseUrl'], $given['apiKey'], $given['timeoutMs'] / 1000, (int) $given['maxRetries'], $given['deadlineMs'] / 1000,
        array_filter(explode(' ', $given['testHosts'] ?? '')),
    );
    return null;
}

$written = fn ($value) => $value instanceof DateTimeInterface ? $value->format(DATE_RFC3339_EXTENDED) : $value;
$client = null;
while (($line = fgets(STDIN)) !== false) {
    $given = [];
    foreach (explode('&', trim($line)) as $pair) {
        [$name, $value] = explode('=', $pair);
        $given[$name] = urldecode($value);
    }
    try {
        $result = run($given);
        $shown = '';
    } catch (Throwable $error) {
        $result = $error;
        // Of this program's own calls the arguments are no secret.
        $trace = array_filter($error->getTrace(), fn ($call) => isset($call['class']));
        $shown = "$error " . print_r($trace, true) . print_r($client, true);
    }
    $type = $result === null ? 'made' : get_class($result);
    $value = array_map($written, get_object_vars($result ?? new stdClass()));
    echo json_encode(['type' => $type, 'value' => $value, 'shown' => $shown]), "\n";
}
