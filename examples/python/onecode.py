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

URL = os.environ["ONECODE_URL"].rstrip("/")
KEY = os.environ["ONECODE_API_KEY"]
TIMEOUT_SECONDS = int(os.environ.get("ONECODE_TIMEOUT_MS", "10000")) / 1000
ANSWER_BYTES_MAX = 256 * 1024
TRIES = 4
REPEATED = (202, 500, 502, 503, 504)
STATES = ("pending", "expired", "locked", "verified")


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


def exchange(method, path, body=None, headers=None):
    """Makes one request. Returns status, headers and JSON; raises Unknown where no whole answer came in time; what is no JSON object is {}."""
    request = urllib.request.Request(URL + path, data=body, method=method, headers=headers or {})
    request.add_header("Authorization", f"Bearer {KEY}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    whole = Future()
    threading.Thread(target=read_answer, args=(request, whole), daemon=True).start()
    try:
        # The time of all of it: look-up, connection and answer. A time-out of the socket begins again with each byte.
        status, answered, text = whole.result(TIMEOUT_SECONDS)
    except (OSError, HTTPException, TooLate) as error:
        raise Unknown from error
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    return status, answered, parsed if isinstance(parsed, dict) else {}


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
        status = None
        try:
            status, answered, parsed = exchange("POST", "/v1/send", body, headers)
            if status == 202 and isinstance(parsed.get("id"), str):
                return parsed["id"]
        except Unknown:
            pass
        if status == 429:
            seconds = answered.get("Retry-After", "")
            if not re.fullmatch("[0-9]{1,2}", seconds) or int(seconds) > 30:
                raise Refused(429)
            wait = int(seconds)
        elif status is not None and status not in REPEATED:
            raise Refused(status)
        if tries < TRIES:
            time.sleep(wait)
    if status == 429:
        raise Refused(429)
    raise Unknown


def verify(send_id, code):
    """Verifies with one request and never a second. Only `valid` as JSON true signs anybody in."""
    path = f"/v1/send/{quote(send_id, safe='')}/verify"
    status, _, answer = exchange("POST", path, json.dumps({"code": code}).encode())
    if 400 <= status < 500 and isinstance(answer.get("code"), str):
        raise Refused(status)
    if status != 200 or answer.get("verification") not in STATES or not isinstance(answer.get("valid"), bool):
        raise Unknown
    if answer["valid"] and answer["verification"] != "verified":
        raise Unknown
    return answer


def status(send_id):
    """Reads the send's status; it signs nobody in."""
    answered, _, answer = exchange("GET", f"/v1/send/{quote(send_id, safe='')}/status")
    if answered != 200:
        raise Refused(answered)
    return answer.get("status")
