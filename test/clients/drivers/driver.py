"""Does what its standard input asks for with the client: a call a line, form-encoded, and so each answer."""

import sys
import traceback
from urllib.parse import parse_qsl, urlencode

sys.path.insert(0, sys.argv[1])
from onecode import IndeterminateVerificationError, Onecode, OnecodeError, ProblemError

client = None


def run(call, given):
    global client
    if call == "new":
        client = Onecode(
            given["baseUrl"],
            given["apiKey"],
            timeout_seconds=int(given["timeoutMs"]) / 1000,
            max_retries=int(given["maxRetries"]),
        )
        return {"outcome": "made"}
    if call == "verify":
        result = client.verify(given["sendId"], given["code"])
        valid = "true" if result.valid is True else "false"
        return {"outcome": "judgement", "valid": valid, "verification": result.verification, "attemptsLeft": result.attempts_left}
    if call == "status":
        send = client.status(given["sendId"])
    else:
        key = given.get("idempotencyKey")
        send = client.send(given["to"], code=given.get("code"), locale=given.get("locale"), idempotency_key=key)
    names = ("id", "status", "verification", "mode", "channel", "from_", "failure_reason")
    answer = {name.rstrip("_"): getattr(send, name) for name in names}
    for name in ("expires_at", "sent_at"):
        at = getattr(send, name)
        answer[name] = at and round(at.timestamp() * 1000)
    return {"outcome": "send", **answer}


def failure(error):
    shown = {"shown": f"{error} {error!r} {client!r} " + "".join(traceback.format_exception(type(error), error, error.__traceback__))}
    if not isinstance(error, OnecodeError):
        return {"outcome": "mistake" if isinstance(error, ValueError) else "bug", **shown}
    facts = {
        "status": error.status,
        "requestId": error.request_id,
        "retryAfterSeconds": error.retry_after_seconds,
        "idempotencyKey": error.idempotency_key,
    }
    if isinstance(error, ProblemError):
        errors = {f"errors.{name}": text for name, text in error.errors.items()}
        return {"outcome": "problem", "code": error.code, "detail": error.detail, **errors, **facts, **shown}
    if isinstance(error, IndeterminateVerificationError):
        return {"outcome": "indeterminate", "sendId": error.send_id, **facts, **shown}
    return {"outcome": "connection", **facts, **shown}


for line in sys.stdin:
    asked = dict(parse_qsl(line.strip(), keep_blank_values=True))
    try:
        answered = run(asked.pop("call"), asked)
    except Exception as error:
        answered = failure(error)
    print(urlencode({name: value for name, value in answered.items() if value is not None}), flush=True)
