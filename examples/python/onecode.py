"""Onecode with the standard library: a creation is repeated with one key and one body, a verification never."""

import json
import os
import random
import re
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException

URL = os.environ["ONECODE_URL"].rstrip("/")
KEY = os.environ["ONECODE_API_KEY"]
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
    """Makes one request. Returns status, headers and JSON; raises Unknown where no whole answer came; what is no JSON object is {}."""
    request = urllib.request.Request(URL + path, data=body, method=method, headers=headers or {})
    request.add_header("Authorization", f"Bearer {KEY}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        try:
            answer = opener.open(request, timeout=10)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            text = answer.read()
    except (OSError, HTTPException) as error:
        raise Unknown from error
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    return answer.status, answer.headers, parsed if isinstance(parsed, dict) else {}


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
    path = f"/v1/send/{send_id}/verify"
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
    return exchange("GET", f"/v1/send/{send_id}/status")[2].get("status")
