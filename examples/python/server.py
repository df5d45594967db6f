"""A sign-in with a code by WhatsApp: python3 server.py"""

import hmac
import math
import os
import secrets
import time
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import onecode

PORT = int(os.environ.get("PORT", "8000"))
RESEND_AFTER_SECONDS = float(os.environ.get("RESEND_AFTER_SECONDS", "30"))
FORM_BYTES_MAX = 4096
SECURE = "; Secure" if os.environ.get("HTTPS") == "1" else ""
sessions = {}


def new_session(**fields):
    session = {"id": secrets.token_urlsafe(32), "csrf": secrets.token_urlsafe(32), **fields}
    sessions[session["id"]] = session
    return session


def send_code(session, to):
    now = time.monotonic()
    wait = math.ceil(session.get("next_send_at", 0) - now)
    if wait > 0:
        return f"Wait {wait} seconds before you ask for a new code."
    session["next_send_at"] = now + RESEND_AFTER_SECONDS
    # The key of an attempt whose outcome is unknown goes on with it. Otherwise a new key makes a new code.
    unfinished_to, key = session.pop("unfinished", (None, None))
    key = key if unfinished_to == to else onecode.new_key()
    try:
        session["pending"] = {"to": to, "send_id": onecode.send(to, key)}
        return None
    except onecode.Refused as error:
        session["next_send_at"] = 0
        if error.status == 422:
            return "No code can be sent to this number. Check it."
        if error.status == 429:
            # A limit says nothing of a try before it whose answer was lost.
            session["unfinished"] = (to, key)
            return "Too many codes were asked for. Try again later."
    except onecode.Unknown:
        session["next_send_at"] = 0
        session["unfinished"] = (to, key)
    return "We could not send a code. Try again."


def verify(pending, code):
    """Returns whether the person is signed in, and what to tell them if not."""
    try:
        answer = onecode.verify(pending["send_id"], code)
    except onecode.Refused:
        return False, "The code was not checked. Try again later."
    except onecode.Unknown:
        # The code may be used up, so it is never verified again.
        pending["send_id"] = None
        return False, "We could not check the code. Ask for a new one."
    if answer["valid"] is True:
        return True, None
    return False, {
        "pending": f"That code is wrong. Attempts left: {answer['attempts_left']}.",
        "expired": "That code has expired. Ask for a new one.",
        "locked": "Too many wrong codes. Ask for a new one.",
        "verified": "That code was used already. Ask for a new one.",
    }[answer["verification"]]


def delivery_notice(pending):
    try:
        if pending and pending["send_id"] and onecode.status(pending["send_id"]) == "failed":
            return "The code could not be delivered. Check the number or ask for a new one."
    except onecode.Unknown:
        pass  # The page works without it.
    return None


def page(session, notice):
    def form(action, fields):
        csrf = f'<input type="hidden" name="csrf" value="{session["csrf"]}">'
        return f'<form method="post" action="{action}">{csrf}{fields}</form>'

    pending = session.get("pending")
    if "signed_in_as" in session:
        content = f"<p>You are signed in as {escape(session['signed_in_as'])}.</p>"
        content += form("/sign-out", "<button>Sign out</button>")
    elif not pending:
        content = form("/code", '<label>WhatsApp number, with + and country code <input name="to" type="tel" '
                       'autocomplete="tel" required></label> <button>Send code</button>')
    else:
        content = ""
        if pending["send_id"]:
            content = f"<p>We sent a code to {escape(pending['to'])} by WhatsApp.</p>"
            content += form("/verify", '<label>Code <input name="code" inputmode="numeric" '
                            'autocomplete="one-time-code" required></label> <button>Sign in</button>')
        content += form("/resend", "<button>Send a new code</button>")
        content += form("/restart", "<button>Use another number</button>")
    told = f'<p role="status">{escape(notice)}</p>' if notice else ""
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>Sign in</title><h1>Sign in</h1>{told}{content}</html>")


class SignIn(BaseHTTPRequestHandler):
    def session(self):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("session")
        return sessions.get(cookie.value) if cookie else None

    def do_GET(self):
        if self.path != "/":
            return self.answer(404, "Not found.")
        known = self.session()
        session = known or new_session()
        notice = session.pop("notice", None) or delivery_notice(session.get("pending"))
        self.answer(200, page(session, notice), None if known else session)

    def do_POST(self):
        body = self.read_form()
        if body is None:
            return self.answer(413, "Too long.")
        form = {name: values[0].strip() for name, values in parse_qs(body.decode()).items()}
        session = self.session()
        if not session or not hmac.compare_digest(form.get("csrf", "").encode(), session["csrf"].encode()):
            return self.answer(403, "This form is too old. Go back and reload the page.")
        # The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
        pending = session.get("pending")
        renewed = None
        if self.path == "/code":
            session["notice"] = send_code(session, form.get("to", ""))
        elif self.path == "/resend" and pending:
            session["notice"] = send_code(session, pending["to"])
        elif self.path == "/verify" and pending and pending["send_id"]:
            valid, session["notice"] = verify(pending, form.get("code", ""))
            if valid:
                # A new id at sign-in: an id that somebody planted before is worth nothing.
                sessions.pop(session["id"], None)
                renewed = new_session(signed_in_as=pending["to"])
        elif self.path == "/restart":
            session.pop("pending", None)
        elif self.path == "/sign-out":
            sessions.pop(session["id"], None)
            renewed = new_session()
        self.answer(303, "", renewed)

    def read_form(self):
        """Returns None where a form is too long. It may come in chunks, which do not say how long they are together."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", "0"))
            return self.rfile.read(length) if 0 <= length <= FORM_BYTES_MAX else None
        body = b""
        while size := int(self.rfile.readline(20), 16):
            if not 0 < size <= FORM_BYTES_MAX - len(body):
                return None
            body += self.rfile.read(size)
            self.rfile.readline()
        return body

    def answer(self, status, body, session=None):
        self.send_response(status)
        if status == 303:
            self.send_header("Location", "/")
        if session:
            self.send_header("Set-Cookie", f"session={session['id']}; Path=/; HttpOnly; SameSite=Lax{SECURE}")
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass  # A request's line is nobody's business.


server = ThreadingHTTPServer(("127.0.0.1", PORT), SignIn)
print(f"http://127.0.0.1:{PORT}", flush=True)
server.serve_forever()
