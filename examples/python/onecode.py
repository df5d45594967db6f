"""Onecode with the standard library: a creation is repeated with one key and one body, a verification never."""

import json
import os
import random
import re
import threading
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from http.client import HTTPException
from urllib.parse import quote


def setting(name):
    value = os.environ.get(name, "")
    if value == "":
        raise SystemExit(f"Set {name}.")
    return value


URL = setting("ONECODE_URL").rstrip("/")
KEY = setting("ONECODE_API_KEY")
TIMEOUT_SECONDS = int(os.environ.get("ONECODE_TIMEOUT_MS", "10000")) / 1000
ANSWER_BYTES_MAX = 256 * 1024
TRIES = 4
REPEATED = (202, 500, 502, 503, 504)
STATES = ("pending", "expired", "locked", "verified")
ATTEMPTS_MAX = 5


class Refused(Exception):
    """The service refused the request with a problem."""

    def __init__(self, status):
        super().__init__(f"refused with {status}")
        self.status = status


class Unknown(Exception):
    """No answer says what became of the request."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


class Answer:
    """A whole answer. `fields` is the JSON object of a result and {} where the answer is none: proxies have answers of their own."""

    def __init__(self, status, headers, text):
        self.status = status
        seconds = headers.get("Retry-After", "")
        self.retry_after = int(seconds) if re.fullmatch("[0-9]{1,2}", seconds) else None
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        fields = parsed if isinstance(parsed, dict) else {}
        media_type = headers.get_content_type()
        self.fields = fields if media_type == "application/json" else {}
        is_problem = media_type == "application/problem+json" and isinstance(fields.get("code"), str)
        self.is_problem = is_problem and status >= 400 and fields.get("status") == status


def exchange(method, path, body=None, headers=None):
    """Makes one request. Raises Unknown where no whole answer came in time."""
    request = urllib.request.Request(URL + path, data=body, method=method, headers=headers or {})
    request.add_header("Authorization", f"Bearer {KEY}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    whole = Future()
    threading.Thread(target=read_answer, args=(request, whole), daemon=True).start()
    try:
        # The time of all of it: look-up, connection and answer. A time-out of the socket begins again with each byte.
        return Answer(*whole.result(TIMEOUT_SECONDS))
    except (OSError, HTTPException, TooLate) as error:
        raise Unknown from error


def read_answer(request, whole):
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        try:
            answer = opener.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        text = b""
        with answer:
            while chunk := answer.read1(ANSWER_BYTES_MAX):
                text += chunk
                # Nobody waits any more, or this is no answer of the service.
                if time.monotonic() > deadline or len(text) > ANSWER_BYTES_MAX:
                    raise TimeoutError
        whole.set_result((answer.status, answer.headers, text))
    except Exception as error:  # The caller gets it, whatever it is.
        whole.set_exception(error)


def new_key():
    return str(uuid.uuid4())


def send(to, key):
    """Sends a code and returns the send's id. After Unknown, the same key goes on with the same send."""
    headers = {"Idempotency-Key": key}
    body = json.dumps({"to": to}).encode()
    for tries in range(1, TRIES + 1):
        wait = 0.5 * 2 ** (tries - 1) * random.uniform(0.5, 1)
        try:
            answer = exchange("POST", "/v1/send", body, headers)
        except Unknown:
            answer = None
        if answer:
            send_id = answer.fields.get("id")
            if answer.status == 202 and isinstance(send_id, str) and send_id:
                return send_id
            is_waited = answer.status == 429 and answer.retry_after is not None and answer.retry_after <= 30
            if is_waited and tries < TRIES:
                wait = answer.retry_after
            elif answer.status not in REPEATED:
                raise Refused(answer.status) if answer.is_problem else Unknown
        if tries < TRIES:
            time.sleep(wait)
    raise Unknown


def verify(send_id, code):
    """Verifies with one request and never a second. Only `valid` as JSON true signs anybody in."""
    path = f"/v1/send/{quote(send_id, safe='')}/verify"
    answer = exchange("POST", path, json.dumps({"code": code}).encode())
    if answer.is_problem and answer.status < 500:
        raise Refused(answer.status)
    valid, verification, left = (answer.fields.get(name) for name in ("valid", "verification", "attempts_left"))
    # In Python, True is a number too.
    is_count = type(left) is int and 0 <= left <= ATTEMPTS_MAX
    if answer.status != 200 or not isinstance(valid, bool) or verification not in STATES or not is_count:
        raise Unknown
    if valid and (verification != "verified" or left != 0):
        raise Unknown
    return answer.fields


def status(send_id):
    """Reads the send's status, None where there is none; it signs nobody in."""
    answer = exchange("GET", f"/v1/send/{quote(send_id, safe='')}/status")
    return answer.fields.get("status") if answer.status == 200 else None
