# SPDX-License-Identifier: Apache-2.0
"""Onecode sends one-time codes over WhatsApp and verifies what users type. For Python 3.9 or newer, without dependencies.

    from onecode import IndeterminateVerificationError, Onecode, normalize_code

    onecode = Onecode("https://api.example.com", api_key)

    send = onecode.send("+447700900123")
    # Keep send.id in this user's session. Never take it from the browser.

    try:
        if onecode.verify(send.id, normalize_code(typed)).valid:
            sign_in()  # Sign the user in only if this is true.
    except IndeterminateVerificationError:
        ...  # The code may be used up: offer a new code, with a new send.

`send` retries with the same key and the same bytes, so that one code is sent and one unit is used. `verify` makes a single request: a
second would get `valid: false` for a code that the first used up. Do not wrap either call in a retry.
"""

import json
import random
import re
import socket
import threading
import time
import unicodedata
import uuid
from dataclasses import dataclass, fields
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Collection, Dict, List, Optional, Sequence
from urllib.parse import quote, urlsplit

_ANSWER_BYTES_MAX = 256 * 1024
_RETRY_AFTER_SECONDS_MAX = 30
# A create request is retried after these statuses, and after 502 and above. 0 means that no complete response arrived.
_REPEATED = (0, 408, 425, 500)
_STATUSES = ("queued", "sending", "sent", "delivered", "read", "failed")
_VERIFICATIONS = ("pending", "verified", "expired", "locked")


@dataclass(frozen=True)
class Send:
    """One code for one recipient. A field without a value yet is None."""

    id: str
    status: str  # queued, sending, sent, delivered, read or failed
    verification: str  # pending, verified, expired or locked
    mode: str  # test or live
    channel: Optional[str]
    from_: Optional[str]
    expires_at: datetime
    created_at: datetime
    sent_at: Optional[datetime]
    delivered_at: Optional[datetime]
    read_at: Optional[datetime]
    verified_at: Optional[datetime]
    failed_at: Optional[datetime]
    failure_reason: Optional[str]


@dataclass(frozen=True)
class VerifyResult:
    """The result of a verification. Sign the user in only on `valid`, which is true only once."""

    valid: bool
    verification: str  # pending, verified, expired or locked
    attempts_left: int  # wrong codes still allowed


class OnecodeError(Exception):
    """The base class of request errors. A mistake in the call raises ValueError instead, and sends nothing."""

    def __init__(self, message, answer, idempotency_key=None):
        super().__init__(message)
        self.status: Optional[int] = answer.status or None
        self.request_id: Optional[str] = answer.request_id
        self.retry_after_seconds: Optional[int] = answer.retry_after_seconds
        # Of a create request: retry with it and the same input to get the same send.
        self.idempotency_key: Optional[str] = idempotency_key


class ProblemError(OnecodeError):
    """The service refused the request; no user was authenticated. Branch on `code`; `detail` and `errors` (by field) may change."""

    code: str
    detail: Optional[str]
    errors: Dict[str, str]


class ConnectionError(OnecodeError):
    """The service did not respond. After `send`, the send may exist: retry with `idempotency_key` and the same input.

    After `verify`, nothing was sent.
    """


class IndeterminateVerificationError(OnecodeError):
    """The code may or may not have been checked. Do not verify it again: create a new send, unless you recorded it as valid."""

    def __init__(self, send_id, error):
        super().__init__(str(error), error)
        self.send_id: str = send_id


def normalize_code(typed: str) -> str:
    """Returns a typed or pasted code for `verify`: without spaces, dashes and invisible characters, with all digits as 0 to 9."""
    kept = (c for c in typed if unicodedata.category(c)[0] not in "ZC" and unicodedata.category(c) != "Pd" and c != "\u2212")
    return "".join(str(unicodedata.decimal(c, c)) for c in kept)


def add_send_id(send_ids: Optional[Sequence[str]], send_id: str) -> List[str]:
    """Returns the ids of a session's two latest sends to one number, the newest first, for `verify_latest`."""
    return [send_id, *(one for one in send_ids or () if one != send_id)][:2]


class Onecode:
    """The client of the service, for your server. All threads can share one object.

    `timeout_seconds` is the time for one try, connection included, `max_retries` how often `send` tries again, and `deadline_seconds` the
    time for one call with all its tries and the waits between them. `test_hosts` are hosts of a test double, such as a container's name,
    that may also use http. Never list the service there, because the key would be readable in transit.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_seconds: float = 10,
        max_retries: int = 3,
        deadline_seconds: float = 15,
        test_hosts: Collection[str] = (),
    ):
        if not isinstance(base_url, str) or base_url == "":
            raise ValueError("base_url is missing.")
        try:
            url = urlsplit(base_url)
            self._host, self._port, self._path = url.hostname or "", url.port, url.path.rstrip("/")
        except ValueError:
            raise ValueError("base_url is not an address.") from None
        if re.search(r"[\s?#@]", base_url):
            raise ValueError("base_url has credentials, a query, a fragment or a space.")
        if self._path.endswith("/v1"):
            raise ValueError("base_url ends in /v1, which the client adds itself.")
        is_loopback = re.fullmatch(r"localhost|::1|127(\.[0-9]{1,3}){3}", self._host)
        if isinstance(test_hosts, str):
            raise ValueError("test_hosts is not a list of host names.")
        is_http = url.scheme == "http" and (is_loopback or self._host in test_hosts)
        if self._host == "" or not (url.scheme == "https" or is_http):
            raise ValueError("base_url is not https: the key would be readable on its way. Name the host of a test double in test_hosts.")
        if not re.fullmatch(r"ak_(test|live)_[A-Za-z0-9_-]+", api_key or ""):
            raise ValueError("api_key is not an API key: ak_test_… or ak_live_…, and nothing around it.")
        if not all(0 < seconds < float("inf") for seconds in (timeout_seconds, deadline_seconds)) or max_retries < 0:
            raise ValueError("timeout_seconds or deadline_seconds is not above 0, or max_retries below 0.")
        self._connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._deadline_seconds = deadline_seconds

    def send(
        self,
        to: str,
        *,
        code: Optional[str] = None,
        locale: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Send:
        """Sends a code. The send is accepted, but not delivered yet. Without `idempotency_key` it is a new code.

        Raises ProblemError, or ConnectionError when the last try got no response.
        """
        if idempotency_key is not None and not isinstance(idempotency_key, str):
            raise ValueError("idempotency_key is not a text: pass str(id).")
        if idempotency_key is None or idempotency_key.strip(" \t") == "":
            idempotency_key = str(uuid.uuid4())
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", idempotency_key):
            raise ValueError("idempotency_key is not a text of one line.")
        given = {"to": to, "code": code, "locale": locale}
        body = json.dumps({name: value for name, value in given.items() if value is not None}).encode()
        end = time.monotonic() + self._deadline_seconds
        for tries in range(self._max_retries + 1):
            answer = self._exchange("POST", "/v1/send", "/v1/send", body, idempotency_key, end)
            send = answer.send(202)
            if send is not None:
                return send
            # Half of it is random, so that callers that failed together do not retry together.
            wait = min(0.5 * 2**tries, 10) * random.uniform(0.5, 1)
            is_repeated = answer.status in _REPEATED or answer.status >= 502 or 200 <= answer.status < 300
            if answer.status == 429 and answer.retry_after_seconds is not None:
                wait = answer.retry_after_seconds + random.uniform(0, 0.25)
                is_repeated = answer.retry_after_seconds <= _RETRY_AFTER_SECONDS_MAX
            if not is_repeated or tries == self._max_retries or time.monotonic() + wait >= end:
                raise answer.error(idempotency_key)
            time.sleep(wait)
            # The process may have been suspended: the caller no longer expects a send.
            if time.monotonic() >= end:
                raise answer.error(idempotency_key)

    def status(self, send_id: str) -> Send:
        """Reads a send, with one request. Never sign a user in on `read` or `verified`. Raises ProblemError, ConnectionError."""
        answer = self._exchange("GET", f"{_path_of(send_id)}/status", "/v1/send/{id}/status")
        send = answer.send(200)
        if send is None:
            raise answer.error()
        return send

    def verify(self, send_id: str, code: str) -> VerifyResult:
        """Verifies what the user typed (see `normalize_code`), with one request. Take `send_id` from your own session, never from a browser.

        Raises IndeterminateVerificationError when the outcome is unknown, ConnectionError when there was no connection and nothing was
        sent, so that the user can try again, and ProblemError when the service refused the request.
        """
        if not isinstance(code, str):
            raise ValueError("The code is not a text: a number has lost its leading zeros.")
        body = json.dumps({"code": code}).encode()
        answer = self._exchange("POST", f"{_path_of(send_id)}/verify", "/v1/send/{id}/verify", body)
        result = answer.judgement()
        if result is not None:
            return result
        error = answer.error()
        # A problem below 500 means that the code was not checked.
        is_refused = isinstance(error, ProblemError) and answer.status < 500
        if is_refused or not answer.is_sent:
            raise error
        raise IndeterminateVerificationError(send_id, error)

    def verify_latest(self, send_ids: Sequence[str], code: str) -> VerifyResult:
        """Verifies what the user typed against the session's newest send, then the one before: users often type the first code to arrive.

        `send_ids` are one or two, as `add_send_id` returns them. A wrong code counts as one guess on each of them. Returns the result of
        the send with that code, or else of the newest send that can still be verified. Raises the errors of `verify`. After an
        IndeterminateVerificationError, drop all ids.
        """
        if isinstance(send_ids, str) or not 1 <= len(send_ids) <= 2:
            raise ValueError("verify_latest needs the ids of one or two sends, the newest first.")
        results = []
        for send_id in send_ids:
            result = self.verify(send_id, code)
            # Verified now or before: an older code must not start another sign-in.
            if result.verification == "verified":
                return result
            results.append(result)
        return next((result for result in results if result.verification == "pending"), results[0])

    def _exchange(self, method, path, route, body=None, idempotency_key=None, end=float("inf")):
        """Makes one request, on a new connection: a reused one may be dead."""
        headers = {"Authorization": f"Bearer {self._api_key}", "User-Agent": "onecode-python", "Connection": "close"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key.encode()
        start = time.monotonic()
        deadline = min(start + min(self._timeout_seconds, self._deadline_seconds), end)
        connection = self._connect(self._host, self._port, timeout=deadline - start)
        connection._create_connection = lambda address, *_: _open_socket(address, deadline)
        reason, is_sent = "the answer is too long", False
        try:
            connection.connect()
            # A socket's timeout restarts with each byte. This timer ends the whole read.
            timer = threading.Timer(deadline - time.monotonic(), _shut_down, [connection.sock])
            timer.daemon = True
            timer.start()
            is_sent = True
            try:
                connection.request(method, self._path + path, body, headers)
                response = connection.getresponse()
                text = response.read(_ANSWER_BYTES_MAX + 1)
            finally:
                timer.cancel()
            if time.monotonic() < deadline and len(text) <= _ANSWER_BYTES_MAX:
                return _Answer(f"{method} {route}", response=response, text=text, api_key=self._api_key)
        except (OSError, HTTPException) as error:
            reason = f"no whole answer ({type(error).__name__})"
        finally:
            connection.close()
        if time.monotonic() >= deadline:
            reason = f"no answer within {deadline - start:.3g} s"
        return _Answer(f"{method} {route}: {reason}", is_sent=is_sent)


def _open_socket(address, deadline):
    """Connects like socket.create_connection, which would give each address of a host the whole time limit."""

    def seconds_left():
        return max(deadline - time.monotonic(), 0.001)

    found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    for untried in range(len(found), 0, -1):
        try:
            sock = socket.create_connection(found[-untried][4][:2], seconds_left() / untried)
        except OSError:
            if untried == 1:
                raise
        else:
            sock.settimeout(seconds_left())
            return sock


def _shut_down(sock):
    try:
        # SSLSocket's own shutdown would continue without encryption.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass  # It was closed already.


def _path_of(send_id):
    if not isinstance(send_id, str) or send_id in ("", ".", ".."):
        raise ValueError("This is not the id of a send.")
    return f"/v1/send/{quote(send_id, safe='')}"


class _Answer:
    """A response, or the reason why none arrived completely, with status 0.

    It has fields only if it is JSON of the media type for its status, because proxies send their own responses.
    """

    def __init__(self, message, response=None, text=b"", is_sent=True, api_key=""):
        self.message, self.status, self.request_id, self.retry_after_seconds, self.fields = message, 0, None, None, {}
        self.is_sent = is_sent
        if response is None:
            return
        self.message = f"{message}: an answer with {response.status} that is not the service's"
        self.status = response.status
        self.request_id = response.getheader("X-Request-Id")
        retry_after = response.getheader("Retry-After", "")
        self.retry_after_seconds = int(retry_after) if re.fullmatch("[0-9]{1,9}", retry_after) else None
        media_type = "application/json" if self.status < 400 else "application/problem+json"
        try:
            # Serialized again first: escapes could hide a key that a proxy repeats.
            read = json.loads(json.dumps(json.loads(text.decode()), ensure_ascii=False).replace(api_key, "[API key]"))
        except (ValueError, RecursionError):
            return
        if isinstance(read, dict) and response.headers.get_content_type() == media_type:
            self.fields = read

    def send(self, status):
        """Returns the send in a response with this status, or None."""
        if self.status != status:
            return None
        try:
            send = Send(*(_read(field.name.rstrip("_"), self.fields) for field in fields(Send)))
        except (AttributeError, KeyError, ValueError):
            return None
        is_known = send.status in _STATUSES and send.verification in _VERIFICATIONS and send.mode in ("test", "live")
        return send if is_known and send.expires_at and send.created_at and isinstance(send.id, str) and send.id else None

    def judgement(self):
        """Returns the verification result, or None. `valid` must be JSON's true, with the other fields as in the contract."""
        valid, verification, left = (self.fields.get(name) for name in ("valid", "verification", "attempts_left"))
        # In Python, True is a number too.
        is_count = type(left) is int and 0 <= left <= 5
        if self.status != 200 or not isinstance(valid, bool) or verification not in _VERIFICATIONS or not is_count:
            return None
        is_success = verification == "verified" and left == 0
        return VerifyResult(valid, verification, left) if is_success or not valid else None

    def error(self, idempotency_key=None):
        """Returns the problem in a response, or an error that the response is not from the service."""
        code, detail, errors = (self.fields.get(name) for name in ("code", "detail", "errors"))
        is_problem = self.status >= 400 and self.fields.get("status") == self.status
        if not is_problem or not isinstance(code, str) or not re.fullmatch("[a-z_]+", code):
            return ConnectionError(self.message, self, idempotency_key)
        detail = detail if isinstance(detail, str) else None
        error = ProblemError(f"{code} ({self.status})" + (f": {detail}" if detail else ""), self, idempotency_key)
        error.code = code
        error.detail = detail
        error.errors = errors if isinstance(errors, dict) else {}
        return error


def _read(name, values):
    value = values[name]
    # In Python 3.9, fromisoformat does not know Z.
    return datetime.fromisoformat(value.replace("Z", "+00:00")) if name.endswith("_at") and value is not None else value
