<?php
// A sign-in with a code by WhatsApp: php -S 127.0.0.1:8000 server.php
declare(strict_types=1);
require __DIR__ . '/onecode.php';

// Errors go to the log, without the arguments of functions: keys and codes are among them.
ini_set('display_errors', '0');
ini_set('log_errors', '1');
ini_set('zend.exception_ignore_args', '1');
foreach (['ONECODE_URL', 'ONECODE_API_KEY'] as $name)
    if (!getenv($name)) throw new Exception("Set $name.");
$onecode = new Onecode(rtrim(getenv('ONECODE_URL'), '/'), getenv('ONECODE_API_KEY'), (int) (getenv('ONECODE_TIMEOUT_MS') ?: 10000));
$resendAfter = getenv('RESEND_AFTER_SECONDS');
const FORM_BYTES_MAX = 4096;
define('RESEND_AFTER_SECONDS', (float) ($resendAfter === false ? 30 : $resendAfter));
session_start([
    'name' => 'session', 'save_path' => sys_get_temp_dir(), 'use_strict_mode' => true,
    'cookie_httponly' => true, 'cookie_samesite' => 'Lax', 'cookie_secure' => getenv('HTTPS') === '1',
]);
$_SESSION['csrf'] ??= bin2hex(random_bytes(32));

function sendCode(Onecode $onecode, string $to): ?string
{
    $wait = (int) ceil(($_SESSION['nextSendAt'] ?? 0) - microtime(true));
    if ($wait > 0) return "Wait $wait seconds before you ask for a new code.";
    // The key of an attempt whose outcome is unknown goes on with it. Otherwise a new key makes a new code.
    $unfinished = $_SESSION['unfinished'] ?? null;
    unset($_SESSION['unfinished']);
    $key = $unfinished && $unfinished['to'] === $to ? $unfinished['key'] : Onecode::newKey();
    try {
        $_SESSION['pending'] = ['to' => $to, 'sendId' => $onecode->send($to, $key)];
        $_SESSION['nextSendAt'] = microtime(true) + RESEND_AFTER_SECONDS;
        return null;
    } catch (Refused $error) {
        if ($error->getCode() === 422) return 'No code can be sent to this number. Check it.';
        if ($error->getCode() === 429) {
            // A limit says nothing of a try before it whose answer was lost.
            $_SESSION['unfinished'] = ['to' => $to, 'key' => $key];
            return 'Too many codes were asked for. Try again later.';
        }
    } catch (Unknown) {
        $_SESSION['unfinished'] = ['to' => $to, 'key' => $key];
    }
    return 'We could not send a code. Try again.';
}

/** Signs in, or returns what to tell the person. The id comes from the session alone. */
function verify(Onecode $onecode, array $pending, string $code): ?string
{
    try {
        $answer = $onecode->verify($pending['sendId'], $code);
    } catch (Refused) {
        return 'The code was not checked. Try again later.';
    } catch (Unknown) {
        // The code may be used up, so it is never verified again.
        $_SESSION['pending']['sendId'] = null;
        return 'We could not check the code. Ask for a new one.';
    }
    if ($answer['valid'] === true) {
        // A new id at sign-in: an id that somebody planted before is worth nothing.
        session_regenerate_id(true);
        $_SESSION = ['csrf' => bin2hex(random_bytes(32)), 'signedInAs' => $pending['to']];
        return null;
    }
    return match ($answer['verification']) {
        'pending' => "That code is wrong. Attempts left: {$answer['attempts_left']}.",
        'expired' => 'That code has expired. Ask for a new one.',
        'locked' => 'Too many wrong codes. Ask for a new one.',
        default => 'That code was used already. Ask for a new one.',
    };
}

function deliveryNotice(Onecode $onecode, ?array $pending): ?string
{
    try {
        if (isset($pending['sendId']) && $onecode->status($pending['sendId']) === 'failed')
            return 'The code could not be delivered. Check the number or ask for a new one.';
    } catch (Unknown) {
        // The page works without it.
    }
    return null;
}

function form(string $action, string $fields): string
{
    return "<form method=\"post\" action=\"$action\"><input type=\"hidden\" name=\"csrf\" value=\"{$_SESSION['csrf']}\">$fields</form>";
}

function content(): string
{
    $pending = $_SESSION['pending'] ?? null;
    if (isset($_SESSION['signedInAs']))
        return '<p>You are signed in as ' . htmlspecialchars($_SESSION['signedInAs']) . '.</p>' . form('/sign-out', '<button>Sign out</button>');
    if (!$pending)
        return form('/code', '<label>WhatsApp number, with + and country code <input name="to" type="tel" autocomplete="tel" required></label> <button>Send code</button>');
    $code = $pending['sendId'] === null ? '' : '<p>We sent a code to ' . htmlspecialchars($pending['to']) . ' by WhatsApp.</p>'
        . form('/verify', '<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label> <button>Sign in</button>');
    return $code . form('/resend', '<button>Send a new code</button>') . form('/restart', '<button>Use another number</button>');
}

function field(string $name): string
{
    return is_string($_POST[$name] ?? null) ? trim($_POST[$name]) : '';
}

$pending = $_SESSION['pending'] ?? null;
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    if (strlen(file_get_contents('php://input')) > FORM_BYTES_MAX) {
        http_response_code(413);
        exit('Too long.');
    }
    if (!hash_equals($_SESSION['csrf'], field('csrf'))) {
        http_response_code(403);
        exit('This form is too old. Go back and reload the page.');
    }
    $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    $notice = null;
    if ($path === '/code') $notice = sendCode($onecode, field('to'));
    if ($path === '/resend' && $pending) $notice = sendCode($onecode, $pending['to']);
    if ($path === '/verify' && isset($pending['sendId'])) $notice = verify($onecode, $pending, field('code'));
    if ($path === '/restart') unset($_SESSION['pending']);
    if ($path === '/sign-out') {
        session_regenerate_id(true);
        $_SESSION = [];
    }
    $_SESSION['notice'] = $notice;
    header('Location: /', true, 303);
    exit;
}
$notice = $_SESSION['notice'] ?? deliveryNotice($onecode, $pending);
unset($_SESSION['notice']);
$told = $notice === null ? '' : '<p role="status">' . htmlspecialchars($notice) . '</p>';
echo '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in</title>',
    "<h1>Sign in</h1>$told", content(), '</html>';
