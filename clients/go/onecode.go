// SPDX-License-Identifier: Apache-2.0

// Package onecode sends one-time codes over WhatsApp and verifies what users type. For Go 1.19 or newer, with the standard library
// only. Put this file into a folder named onecode in your module.
//
//	client, err := onecode.New("https://api.example.com", apiKey, 10*time.Second, 3)
//	client.Deadline = 15 * time.Second // For one call, with its retries and waits. This is the default.
//
//	send, err := client.Send(ctx, onecode.SendRequest{To: "+447700900123"})
//	// Keep send.ID in this user's session. Never take it from the browser.
//
//	result, err := client.Verify(ctx, send.ID, onecode.NormalizeCode(typed))
//	var unknown *onecode.IndeterminateVerificationError
//	if errors.As(err, &unknown) {
//		// The code may be used up: offer a new code, with a new send.
//	} else if err == nil && result.Valid {
//		signIn() // Sign the user in only if this is true.
//	}
//
// Send retries with the same key and the same bytes, so that one code is sent and one unit is used. Verify makes a single request: a
// second would get Valid false for a code that the first used up. Do not wrap either call in a retry.
package onecode

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	answerBytesMax = 256 << 10
	retryAfterMax  = 30 * time.Second
)

var (
	apiKeyForm    = regexp.MustCompile(`^ak_(test|live)_[A-Za-z0-9_-]+$`)
	loopbackForm  = regexp.MustCompile(`^(localhost|::1|127(\.[0-9]{1,3}){3})$`)
	codeForm      = regexp.MustCompile(`^[a-z_]+$`)
	keyForm       = regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	secondsForm   = regexp.MustCompile(`^[0-9]{1,9}$`)
	statuses      = map[string]bool{"queued": true, "sending": true, "sent": true, "delivered": true, "read": true, "failed": true}
	verifications = map[string]bool{"pending": true, "verified": true, "expired": true, "locked": true}
)

// SendRequest is the input of Send. All fields but To are optional.
type SendRequest struct {
	To     string `json:"to"`
	Code   string `json:"code,omitempty"`
	Locale string `json:"locale,omitempty"`
	// IdempotencyKey is a new key by default, which means a new code.
	IdempotencyKey string `json:"-"`
}

// Send is one code for one recipient. A field without a value yet is "" or nil.
type Send struct {
	ID            string     `json:"id"`
	Status        string     `json:"status"`       // queued, sending, sent, delivered, read or failed
	Verification  string     `json:"verification"` // pending, verified, expired or locked
	Mode          string     `json:"mode"`         // test or live
	Channel       string     `json:"channel"`
	From          string     `json:"from"`
	ExpiresAt     time.Time  `json:"expires_at"`
	CreatedAt     time.Time  `json:"created_at"`
	SentAt        *time.Time `json:"sent_at"`
	DeliveredAt   *time.Time `json:"delivered_at"`
	ReadAt        *time.Time `json:"read_at"`
	VerifiedAt    *time.Time `json:"verified_at"`
	FailedAt      *time.Time `json:"failed_at"`
	FailureReason string     `json:"failure_reason"`
}

// VerifyResult is the result of a verification. Sign the user in only on Valid, which is true only once.
type VerifyResult struct {
	Valid        bool
	Verification string // pending, verified, expired or locked
	AttemptsLeft int    // wrong codes still allowed
}

// Facts are the facts about a request apart from its outcome.
type Facts struct {
	Status     int // 0 if there was no response
	RequestID  string
	RetryAfter *time.Duration
	// IdempotencyKey is set for a create request: retry with it and the same input to get the same send.
	IdempotencyKey string
}

// ProblemError means that the service refused the request; no user was authenticated. Branch on Code; Detail and Errors (by field) may
// change.
type ProblemError struct {
	Facts
	Code, Detail string
	Errors       map[string]string
}

// ConnectionError means that the service did not respond. After Send, the send may exist: retry with IdempotencyKey and the same input.
// After Verify, nothing was sent.
type ConnectionError struct {
	Facts
	Cause error
}

// IndeterminateVerificationError means that the code may or may not have been checked. Do not verify it again: create a new send, unless
// you recorded it as valid.
type IndeterminateVerificationError struct {
	Facts
	SendID string
	Cause  error
}

func (e *ProblemError) Error() string                   { return fmt.Sprintf("onecode: %s (%d)", e.Code, e.Status) }
func (e *ConnectionError) Error() string                { return "onecode: " + e.Cause.Error() }
func (e *ConnectionError) Unwrap() error                { return e.Cause }
func (e *IndeterminateVerificationError) Error() string { return "onecode: " + e.Cause.Error() }
func (e *IndeterminateVerificationError) Unwrap() error { return e.Cause }

// Client is the client of the service, for your server. All goroutines can share one.
type Client struct {
	// Deadline is the time for one call, with all its tries and the waits between them.
	Deadline   time.Duration
	baseURL    string
	timeout    time.Duration
	maxRetries int
	transport  *http.Transport
	// A function, so that a printed client does not show its key.
	authorize func(http.Header)
}

// New creates a client for the service at an address. The timeout is for one try, response included; maxRetries is how often Send tries
// again. The test hosts are hosts of a test double, such as a container's name, that may also use http. Never list the service there,
// because the key would be readable in transit. The error never contains the given values.
func New(baseURL, apiKey string, timeout time.Duration, maxRetries int, testHosts ...string) (*Client, error) {
	address, err := url.Parse(baseURL)
	if err != nil || address.Hostname() == "" || address.User != nil || strings.ContainsAny(baseURL, "?#") {
		return nil, errors.New("onecode: the base URL is not an address, or has credentials, a query or a fragment")
	}
	if strings.HasSuffix(strings.TrimRight(address.Path, "/"), "/v1") {
		return nil, errors.New("onecode: the base URL ends in /v1, which the client adds itself")
	}
	mayBeHTTP := loopbackForm.MatchString(address.Hostname())
	for _, host := range testHosts {
		mayBeHTTP = mayBeHTTP || host == address.Hostname()
	}
	if address.Scheme != "https" && (address.Scheme != "http" || !mayBeHTTP) {
		return nil, errors.New("onecode: the base URL is not https: the key would be readable in transit; list the host of a test double")
	}
	if !apiKeyForm.MatchString(apiKey) {
		return nil, errors.New("onecode: this is not an API key: ak_test_… or ak_live_…, without other text")
	}
	if timeout <= 0 || maxRetries < 0 {
		return nil, errors.New("onecode: the timeout is not above 0, or maxRetries is below 0")
	}
	transport := &http.Transport{
		// When a reused connection turns out dead, net/http writes a request again by itself. This includes a POST that has an
		// Idempotency-Key or of which nothing was written yet. A new connection for each request prevents this.
		DisableKeepAlives: true,
		// HTTP/2 retries by itself after GOAWAY and REFUSED_STREAM. An empty map disables it.
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	authorize := func(header http.Header) { header.Set("Authorization", "Bearer "+apiKey) }
	return &Client{15 * time.Second, strings.TrimRight(baseURL, "/"), timeout, maxRetries, transport, authorize}, nil
}

// Send sends a code. The send is accepted, but not delivered yet. Its errors are *ProblemError when the service refused it, and
// *ConnectionError when the last try got no response or the context ended.
func (c *Client) Send(ctx context.Context, request SendRequest) (*Send, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	key := request.IdempotencyKey
	if strings.Trim(key, " \t") == "" {
		key = hex.EncodeToString(random(16))
	}
	if !keyForm.MatchString(key) {
		return nil, errors.New("onecode: the idempotency key is not a text of one line")
	}
	ctx, cancel := context.WithTimeout(ctx, c.Deadline)
	defer cancel()
	end, _ := ctx.Deadline()
	for tries := 0; ; tries++ {
		answer := c.exchange(ctx, "POST", "/v1/send", "/v1/send", body, key)
		if send := answer.send(http.StatusAccepted); send != nil {
			return send, nil
		}
		// Half of it is random, so that callers that failed together do not retry together.
		wait := 10 * time.Second
		if tries < 5 {
			wait = 500 * time.Millisecond << tries
		}
		wait = wait/2 + wait/512*time.Duration(random(1)[0])
		isRepeated := answer.isOpen()
		if answer.Status == http.StatusTooManyRequests && answer.RetryAfter != nil {
			wait = *answer.RetryAfter + time.Duration(random(1)[0])*time.Millisecond
			isRepeated = *answer.RetryAfter <= retryAfterMax
		}
		if !isRepeated || tries >= c.maxRetries || ctx.Err() != nil || time.Until(end) <= wait {
			return nil, answer.failure()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, &ConnectionError{answer.Facts, ctx.Err()}
		}
	}
}

// Status reads a send, with one request. Never sign a user in on "read" or "verified". Its errors are those of Send.
func (c *Client) Status(ctx context.Context, sendID string) (*Send, error) {
	path, err := pathOf(sendID)
	if err != nil {
		return nil, err
	}
	answer := c.exchange(ctx, "GET", path+"/status", "/v1/send/{id}/status", nil, "")
	if send := answer.send(http.StatusOK); send != nil {
		return send, nil
	}
	return nil, answer.failure()
}

// Verify verifies what the user typed (see NormalizeCode), with one request. Take the id from your own session, never from a browser. Its
// errors are *IndeterminateVerificationError when the outcome is unknown, *ConnectionError when there was no connection and nothing was
// sent, so that the user can try again, and *ProblemError when the service refused the request.
func (c *Client) Verify(ctx context.Context, sendID, code string) (*VerifyResult, error) {
	path, err := pathOf(sendID)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return nil, err
	}
	answer := c.exchange(ctx, "POST", path+"/verify", "/v1/send/{id}/verify", body, "")
	if result := answer.judgement(); result != nil {
		return result, nil
	}
	var network *net.OpError
	if errors.As(answer.cause, &network) && network.Op == "dial" {
		return nil, answer.failure()
	}
	cause := answer.cause
	if problem, ok := answer.failure().(*ProblemError); ok {
		// A problem below 500 means that the code was not checked.
		if problem.Status < 500 {
			return nil, problem
		}
		// Not the problem itself: errors.As would find it and treat it as a refusal.
		cause = fmt.Errorf("%s (%d)", problem.Code, problem.Status)
	}
	return nil, &IndeterminateVerificationError{answer.Facts, sendID, cause}
}

// VerifyLatest verifies what the user typed against the session's newest send, then the one before: users often type the first
// code to arrive. It takes one or two ids, as AddSendID returns them. A wrong code counts as one guess on each of them. It returns the
// result of the send with that code, or else of the newest send that can still be verified. Its errors are those of Verify. After an
// *IndeterminateVerificationError, drop all ids.
func (c *Client) VerifyLatest(ctx context.Context, sendIDs []string, code string) (*VerifyResult, error) {
	if len(sendIDs) < 1 || len(sendIDs) > 2 {
		return nil, errors.New("onecode: VerifyLatest needs the ids of one or two sends, the newest first")
	}
	var latest *VerifyResult
	for _, sendID := range sendIDs {
		result, err := c.Verify(ctx, sendID, code)
		// Verified now or before: an older code must not start another sign-in.
		if err != nil || result.Verification == "verified" {
			return result, err
		}
		if latest == nil || (latest.Verification != "pending" && result.Verification == "pending") {
			latest = result
		}
	}
	return latest, nil
}

// AddSendID returns the ids of a session's two latest sends to one number, the newest first, for VerifyLatest.
func AddSendID(sendIDs []string, sendID string) []string {
	if len(sendIDs) > 0 && sendIDs[0] != sendID {
		return []string{sendID, sendIDs[0]}
	}
	if len(sendIDs) > 0 {
		return sendIDs
	}
	return []string{sendID}
}

// NormalizeCode returns a typed or pasted code for Verify: without spaces, dashes and invisible characters, with all digits as
// 0 to 9.
func NormalizeCode(typed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Z, unicode.C, unicode.Pd) || r == '\u2212' {
			return -1
		}
		if !unicode.Is(unicode.Nd, r) {
			return r
		}
		// The digits of each script are consecutive, from zero.
		value := rune(0)
		for unicode.Is(unicode.Nd, r-value-1) {
			value++
		}
		return '0' + value%10
	}, typed)
}

// answer is a response, or the reason why none arrived completely.
type answer struct {
	Facts
	// The JSON if it has the media type for the status, or nothing: proxies send their own responses.
	body  []byte
	cause error
}

// exchange makes one request.
func (c *Client) exchange(ctx context.Context, method, path, route string, body []byte, key string) *answer {
	timeout := c.timeout
	if c.Deadline < timeout {
		timeout = c.Deadline
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	read := &answer{Facts: Facts{IdempotencyKey: key}}
	response, text, err := c.roundTrip(ctx, method, path, body, key)
	if err != nil {
		read.cause = fmt.Errorf("%s %s: no whole answer: %w", method, route, err)
		return read
	}
	read.cause = fmt.Errorf("%s %s: an answer with %d that is not the service's", method, route, response.StatusCode)
	read.Status, read.RequestID = response.StatusCode, response.Header.Get("X-Request-Id")
	if seconds := response.Header.Get("Retry-After"); secondsForm.MatchString(seconds) {
		wait, _ := time.ParseDuration(seconds + "s")
		read.RetryAfter = &wait
	}
	expected := "application/json"
	if read.Status >= 400 {
		expected = "application/problem+json"
	}
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && mediaType == expected && utf8.Valid(text) {
		read.body = text
	}
	return read
}

func (c *Client) roundTrip(ctx context.Context, method, path string, body []byte, key string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	// Without it, net/http has no copy of the body to send again.
	request.GetBody = nil
	c.authorize(request.Header)
	request.Header.Set("User-Agent", "onecode-go")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	// Not through http.Client, which follows redirects and would send the key to another host.
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err == nil && len(text) > answerBytesMax {
		err = errors.New("it is too long")
	}
	return response, text, err
}

// isOpen reports whether to retry a create request, because its outcome is unknown or the fault is temporary.
func (a *answer) isOpen() bool {
	switch a.Status {
	case 0, 408, 425, 500:
		return true
	}
	return a.Status >= 502 || a.Status >= 200 && a.Status < 300
}

// send returns the send in a response with this status, or nil.
func (a *answer) send(status int) *Send {
	var send Send
	if a.Status != status || json.Unmarshal(a.body, &send) != nil {
		return nil
	}
	isKnown := statuses[send.Status] && verifications[send.Verification] && (send.Mode == "test" || send.Mode == "live")
	if !isKnown || send.ID == "" || send.ExpiresAt.IsZero() || send.CreatedAt.IsZero() {
		return nil
	}
	return &send
}

// judgement returns the verification result, or nil. It matches names exactly, unlike decoding into a struct.
func (a *answer) judgement() *VerifyResult {
	var fields map[string]any
	if a.Status != http.StatusOK || json.Unmarshal(a.body, &fields) != nil {
		return nil
	}
	valid, isBool := fields["valid"].(bool)
	verification, _ := fields["verification"].(string)
	left, isNumber := fields["attempts_left"].(float64)
	isCount := isNumber && left >= 0 && left <= 5 && left == float64(int(left))
	if !isBool || !isCount || !verifications[verification] || (valid && (verification != "verified" || left != 0)) {
		return nil
	}
	return &VerifyResult{valid, verification, int(left)}
}

// failure returns the problem in a response, or an error that the response is not from the service.
func (a *answer) failure() error {
	var problem struct {
		Status       int
		Code, Detail string
		Errors       map[string]string
	}
	if a.Status >= 400 && json.Unmarshal(a.body, &problem) == nil && problem.Status == a.Status && codeForm.MatchString(problem.Code) {
		return &ProblemError{a.Facts, problem.Code, problem.Detail, problem.Errors}
	}
	return &ConnectionError{a.Facts, a.cause}
}

func pathOf(sendID string) (string, error) {
	if sendID == "" || sendID == "." || sendID == ".." {
		return "", errors.New("onecode: this is not the id of a send")
	}
	return "/v1/send/" + url.PathEscape(sendID), nil
}

func random(count int) []byte {
	random := make([]byte, count)
	if _, err := rand.Read(random); err != nil {
		panic(err)
	}
	return random
}
