// A sign-in with a code by WhatsApp: go run .

package main

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const formBytesMax = 4096

// pending is a number and the id of the send to it, or "" when that id can no longer be verified. It never changes: another one takes its
// place. So a code that is sent meanwhile cannot pair an id with the number of another.
type pending struct{ to, sendID string }

// attempt is a creation whose outcome is unknown.
type attempt struct{ to, key string }

// session is read and written under the lock of its sign-in alone.
type session struct {
	id, csrf   string
	signedInAs string
	notice     string
	pending    *pending
	unfinished attempt
	nextSendAt time.Time
}

type signIn struct {
	onecode     *Onecode
	resendAfter time.Duration
	secure      bool
	lock        sync.Mutex
	sessions    map[string]*session
}

func (site *signIn) newSession(signedInAs string) *session {
	created := &session{id: secret(), csrf: secret(), signedInAs: signedInAs}
	site.lock.Lock()
	defer site.lock.Unlock()
	site.sessions[created.id] = created
	return created
}

// renew gives a session a new id. An id that somebody planted before is worth nothing then.
func (site *signIn) renew(old *session, signedInAs string) *session {
	site.change(func() { delete(site.sessions, old.id) })
	return site.newSession(signedInAs)
}

func (site *signIn) change(write func()) {
	site.lock.Lock()
	defer site.lock.Unlock()
	write()
}

// sendCode returns what to tell the person, or "".
func (site *signIn) sendCode(session *session, to string) string {
	key, wait := site.startSend(session, to)
	if wait > 0 {
		return fmt.Sprintf("Wait %d seconds before you ask for a new code.", wait)
	}
	sendID, err := site.onecode.Send(to, key)
	if err == nil {
		site.change(func() { session.pending = &pending{to, sendID} })
		return ""
	}
	var refused *Refused
	isRefused := errors.As(err, &refused)
	site.change(func() {
		session.nextSendAt = time.Time{}
		// A limit says nothing of a try before it whose answer was lost.
		if !isRefused || refused.Status == 429 {
			session.unfinished = attempt{to, key}
		}
	})
	switch {
	case isRefused && refused.Status == 422:
		return "No code can be sent to this number. Check it."
	case isRefused && refused.Status == 429:
		return "Too many codes were asked for. Try again later."
	default:
		return "We could not send a code. Try again."
	}
}

// startSend returns the key of a creation, or the seconds to wait before one.
func (site *signIn) startSend(session *session, to string) (key string, wait int) {
	site.lock.Lock()
	defer site.lock.Unlock()
	now := time.Now()
	if left := session.nextSendAt.Sub(now); left > 0 {
		return "", int(math.Ceil(left.Seconds()))
	}
	session.nextSendAt = now.Add(site.resendAfter)
	// The key of an attempt whose outcome is unknown goes on with it. Otherwise a new key makes a new code.
	unfinished := session.unfinished
	session.unfinished = attempt{}
	if unfinished.key != "" && unfinished.to == to {
		return unfinished.key, 0
	}
	return NewKey(), 0
}

// verify returns whether the person is signed in, and what to tell them if not.
func (site *signIn) verify(session *session, asked *pending, code string) (bool, string) {
	judgement, err := site.onecode.Verify(asked.sendID, code)
	var refused *Refused
	if errors.As(err, &refused) {
		return false, "The code was not checked. Try again later."
	}
	if err != nil {
		// The code may be used up, so it is never verified again.
		site.change(func() {
			if session.pending == asked {
				session.pending = &pending{to: asked.to}
			}
		})
		return false, "We could not check the code. Ask for a new one."
	}
	if judgement.Valid {
		return true, ""
	}
	switch judgement.Verification {
	case "pending":
		return false, fmt.Sprintf("That code is wrong. Attempts left: %d.", judgement.AttemptsLeft)
	case "expired":
		return false, "That code has expired. Ask for a new one."
	case "locked":
		return false, "Too many wrong codes. Ask for a new one."
	default:
		return false, "That code was used already. Ask for a new one."
	}
}

func (site *signIn) deliveryNotice(pending *pending) string {
	if pending == nil || pending.sendID == "" {
		return ""
	}
	// The page works without the status.
	if status, err := site.onecode.Status(pending.sendID); err != nil || status != "failed" {
		return ""
	}
	return "The code could not be delivered. Check the number or ask for a new one."
}

func page(csrf, signedInAs, notice string, pending *pending) string {
	form := func(action, fields string) string {
		return `<form method="post" action="` + action + `"><input type="hidden" name="csrf" value="` + csrf + `">` + fields + `</form>`
	}
	content := ""
	switch {
	case signedInAs != "":
		content = `<p>You are signed in as ` + html.EscapeString(signedInAs) + `.</p>` + form("/sign-out", `<button>Sign out</button>`)
	case pending == nil:
		content = form("/code", `<label>WhatsApp number, with + and country code <input name="to" type="tel" autocomplete="tel" required></label> `+
			`<button>Send code</button>`)
	default:
		if pending.sendID != "" {
			content = `<p>We sent a code to ` + html.EscapeString(pending.to) + ` by WhatsApp.</p>` +
				form("/verify", `<label>Code <input name="code" inputmode="numeric" autocomplete="one-time-code" required></label> `+
					`<button>Sign in</button>`)
		}
		content += form("/resend", `<button>Send a new code</button>`) + form("/restart", `<button>Use another number</button>`)
	}
	told := ""
	if notice != "" {
		told = `<p role="status">` + html.EscapeString(notice) + `</p>`
	}
	return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<title>Sign in</title><h1>Sign in</h1>` + told + content + `</html>`
}

func (site *signIn) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	switch {
	case request.Method == http.MethodPost:
		site.post(response, request)
	case request.Method != http.MethodGet:
		site.answer(response, http.StatusMethodNotAllowed, "Not allowed.", nil)
	case request.URL.Path != "/":
		site.answer(response, http.StatusNotFound, "Not found.", nil)
	default:
		site.get(response, request)
	}
}

func (site *signIn) get(response http.ResponseWriter, request *http.Request) {
	var created *session
	session := site.sessionOf(request)
	if session == nil {
		session = site.newSession("")
		created = session
	}
	site.lock.Lock()
	signedInAs, notice, pending := session.signedInAs, session.notice, session.pending
	session.notice = ""
	site.lock.Unlock()
	if notice == "" {
		notice = site.deliveryNotice(pending)
	}
	site.answer(response, http.StatusOK, page(session.csrf, signedInAs, notice, pending), created)
}

func (site *signIn) post(response http.ResponseWriter, request *http.Request) {
	request.Body = http.MaxBytesReader(response, request.Body, formBytesMax)
	if err := request.ParseForm(); err != nil {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			site.answer(response, http.StatusRequestEntityTooLarge, "Too long.", nil)
		} else {
			site.answer(response, http.StatusBadRequest, "This is no form.", nil)
		}
		return
	}
	field := func(name string) string { return strings.TrimSpace(request.PostForm.Get(name)) }
	session := site.sessionOf(request)
	if session == nil || subtle.ConstantTimeCompare([]byte(field("csrf")), []byte(session.csrf)) != 1 {
		site.answer(response, http.StatusForbidden, "This form is too old. Go back and reload the page.", nil)
		return
	}
	site.answer(response, http.StatusSeeOther, "", site.act(session, request.URL.Path, field))
}

// act does what a form asks for. It returns the session that takes the old one's place, or nil.
func (site *signIn) act(session *session, path string, field func(string) string) *session {
	// The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
	var pending *pending
	site.change(func() { pending = session.pending })
	notice := ""
	switch {
	case path == "/code":
		notice = site.sendCode(session, field("to"))
	case path == "/resend" && pending != nil:
		notice = site.sendCode(session, pending.to)
	case path == "/verify" && pending != nil && pending.sendID != "":
		var valid bool
		if valid, notice = site.verify(session, pending, field("code")); valid {
			return site.renew(session, pending.to)
		}
	case path == "/restart":
		site.change(func() { session.pending = nil })
	case path == "/sign-out":
		return site.renew(session, "")
	}
	site.change(func() { session.notice = notice })
	return nil
}

func (site *signIn) sessionOf(request *http.Request) *session {
	cookie, err := request.Cookie("session")
	if err != nil {
		return nil
	}
	site.lock.Lock()
	defer site.lock.Unlock()
	return site.sessions[cookie.Value]
}

func (site *signIn) answer(response http.ResponseWriter, status int, body string, created *session) {
	if status == http.StatusSeeOther {
		response.Header().Set("Location", "/")
	}
	if created != nil {
		http.SetCookie(response, &http.Cookie{
			Name: "session", Value: created.id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: site.secure,
		})
	}
	response.Header().Set("Content-Type", "text/html; charset=utf-8")
	response.Header().Set("Cache-Control", "no-store")
	response.WriteHeader(status)
	// A browser that left needs no answer.
	_, _ = response.Write([]byte(body))
}

func secret() string {
	bytes := make([]byte, 32)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func number(name, otherwise string, least float64) float64 {
	value, err := strconv.ParseFloat(env(name, otherwise), 64)
	if err != nil || !(value >= least) {
		log.Fatalf("%s is no number of at least %v.", name, least)
	}
	return value
}

func main() {
	url, key := os.Getenv("ONECODE_URL"), os.Getenv("ONECODE_API_KEY")
	if url == "" || key == "" {
		log.Fatal("Set ONECODE_URL and ONECODE_API_KEY.")
	}
	timeout := time.Duration(number("ONECODE_TIMEOUT_MS", "10000", 1) * float64(time.Millisecond))
	site := &signIn{
		onecode:     NewOnecode(strings.TrimRight(url, "/"), key, timeout),
		resendAfter: time.Duration(number("RESEND_AFTER_SECONDS", "30", 0) * float64(time.Second)),
		secure:      os.Getenv("HTTPS") == "1",
		sessions:    map[string]*session{},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+env("PORT", "8000"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: site, ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}
