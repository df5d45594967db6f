"""Makes the calls that its standard input asks for, one a line and form-encoded, and prints what comes of each as JSON."""

import dataclasses
import json
import sys
import traceback
from urllib.parse import parse_qsl

sys.path.insert(0, sys.argv[1])
from onecode import Onecode, add_send_id, normalize_code

client = None


def run(call, **given):
    global client
    if call == "verify":
        return client.verify(given["sendId"], normalize_code(given["code"]))
    if call == "verifyLatest":
        ids = []
        for send_id in given["sendIds"].split():
            ids = add_send_id(ids, send_id)
        return client.verify_latest(ids, given["code"])
    if call == "status":
        return client.status(given["sendId"])
    if call == "send":
        return client.send(given.pop("to"), idempotency_key=given.pop("idempotencyKey", None), **given)
    times = {"timeout_seconds": int(given["timeoutMs"]) / 1000, "max_retries": int(given["maxRetries"]), "deadline_seconds": int(given["deadlineMs"]) / 1000}
    client = Onecode(given["baseUrl"], given["apiKey"], test_hosts=given.get("testHosts", "").split(), **times)
    return None


for line in sys.stdin:
    try:
        result = run(**dict(parse_qsl(line.strip(), keep_blank_values=True)))
        answer = {"type": "made"} if result is None else {"type": type(result).__name__, "value": dataclasses.asdict(result)}
    except Exception as error:
        shown = f"{error!r} {client!r} {traceback.format_exc()}"
        answer = {"type": type(error).__name__, "value": vars(error), "shown": shown}
    print(json.dumps(answer, default=lambda time: time.isoformat()), flush=True)
