// Onecode with the standard library: a creation is repeated with one key and one body, a verification never.

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	triesMax             = 4
	firstWait            = 500 * time.Millisecond
	retryAfterSecondsMax = 30
	// The contract's answers have less than a kilobyte.
	answerBytesMax  = 256 << 10
	attemptsLeftMax = 5
)

var (
	// ErrUnknown means that no answer says what became of the request.
	ErrUnknown = errors.New("the outcome is unknown")

	repeated      = map[int]bool{202: true, 500: true, 502: true, 503: true, 504: true}
	verifications = map[string]bool{"pending": true, "expired": true, "locked": true, "verified": true}
	twoDigits     = regexp.MustCompile(`^[0-9]{1,2}$`)
)

// Refused is the error of a request that the service refused with a problem.
type Refused struct{ Status int }

func (refused *Refused) Error() string {
	return fmt.Sprintf("refused with %d", refused.Status)
}

// Judgement is the answer to a verification.
type Judgement struct {
	Valid        bool
	Verification string
	AttemptsLeft int
}

// Onecode makes the three calls. It serves all requests of a program.
type Onecode struct {
	url, key string
	client   *http.Client
}

// NewOnecode takes the time that a whole exchange may last, the answer's body included.
func NewOnecode(url, key string, timeout time.Duration) *Onecode {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		// net/http writes a request again by itself when a connection that it used before turns out dead: a POST too, where it has an
		// Idempotency-Key or where nothing was written yet. So each request has a connection of its own, and none is written twice.
		DisableKeepAlives: true,
		// HTTP/2 has repeats of its own, after GOAWAY and REFUSED_STREAM. An empty map leaves it out.
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxResponseHeaderBytes: 64 << 10,
	}
	// A redirect is no answer, and the key goes to no other host.
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Onecode{url, key, &http.Client{Transport: transport, CheckRedirect: noRedirects, Timeout: timeout}}
}

// NewKey makes an idempotency key.
func NewKey() string {
	bytes := make([]byte, 16)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return hex.EncodeToString(bytes)
}

// Send sends a code and returns the send's id. After ErrUnknown, the same key goes on with the same send.
func (onecode *Onecode) Send(to, key string) (string, error) {
	body, err := json.Marshal(map[string]string{"to": to})
	if err != nil {
		return "", err
	}
	for try := 1; ; try++ {
		wait := growingWait(try)
		answer, err := onecode.exchange("POST", "/v1/send", body, key)
		if err == nil {
			if id, ok := answer.fields["id"].(string); ok && id != "" && answer.status == 202 {
				return id, nil
			}
			limit, isShort := limitWait(answer.retryAfter)
			isWaited := answer.status == 429 && isShort && try < triesMax
			err = fmt.Errorf("%w: answered with %d", ErrUnknown, answer.status)
			switch {
			case isWaited:
				wait = limit
			case repeated[answer.status]:
			case answer.isProblem:
				return "", &Refused{answer.status}
			default:
				return "", err
			}
		}
		if try == triesMax {
			return "", err
		}
		time.Sleep(wait)
	}
}

// Verify verifies with one request and never a second. Only Valid signs anybody in.
func (onecode *Onecode) Verify(sendID, code string) (*Judgement, error) {
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return nil, err
	}
	answer, err := onecode.exchange("POST", sendPath(sendID)+"/verify", body, "")
	if err != nil {
		return nil, err
	}
	if answer.isProblem && answer.status < 500 {
		return nil, &Refused{answer.status}
	}
	valid, isBool := answer.fields["valid"].(bool)
	verification, _ := answer.fields["verification"].(string)
	left, isNumber := answer.fields["attempts_left"].(float64)
	isCount := isNumber && left >= 0 && left <= attemptsLeftMax && left == math.Trunc(left)
	isWellFormed := answer.status == 200 && isBool && isCount && verifications[verification]
	if !isWellFormed || (valid && (verification != "verified" || left != 0)) {
		return nil, fmt.Errorf("%w: answered with %d", ErrUnknown, answer.status)
	}
	return &Judgement{valid, verification, int(left)}, nil
}

// Status reads the send's status, "" where there is none; it signs nobody in.
func (onecode *Onecode) Status(sendID string) (string, error) {
	answer, err := onecode.exchange("GET", sendPath(sendID)+"/status", nil, "")
	if err != nil {
		return "", err
	}
	status, _ := answer.fields["status"].(string)
	if answer.status != http.StatusOK {
		return "", nil
	}
	return status, nil
}

type answer struct {
	status     int
	retryAfter string
	// The JSON object of a result, or nothing where the answer is none: proxies have answers of their own. A struct would do worse: its
	// fields match names in any case.
	fields    map[string]any
	isProblem bool
}

// exchange makes one request. It returns ErrUnknown where no whole answer came.
func (onecode *Onecode) exchange(method, path string, body []byte, key string) (*answer, error) {
	request, err := http.NewRequest(method, onecode.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	// Without it, net/http has no second copy of the body to send.
	request.GetBody = nil
	request.Header.Set("Authorization", "Bearer "+onecode.key)
	if method == "POST" {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := onecode.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnknown, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUnknown, err)
	}
	if len(text) > answerBytesMax {
		return nil, fmt.Errorf("%w: the answer is too long", ErrUnknown)
	}
	var fields map[string]any
	if !utf8.Valid(text) || json.Unmarshal(text, &fields) != nil {
		fields = nil
	}
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	read := &answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	switch mediaType {
	case "application/json":
		read.fields = fields
	case "application/problem+json":
		_, hasCode := fields["code"].(string)
		status, _ := fields["status"].(float64)
		read.isProblem = hasCode && read.status >= 400 && status == float64(read.status)
	}
	return read, nil
}

func sendPath(sendID string) string {
	return "/v1/send/" + url.PathEscape(sendID)
}

// growingWait is half a second, doubled after each try, of which the second half is random: callers that failed together do not return
// together.
func growingWait(try int) time.Duration {
	half := firstWait << (try - 1) / 2
	random, err := rand.Int(rand.Reader, big.NewInt(int64(half)))
	if err != nil {
		panic(err)
	}
	return half + time.Duration(random.Int64())
}

// limitWait is how long a limit lasts, and whether that is short enough to wait for.
func limitWait(retryAfter string) (time.Duration, bool) {
	seconds, err := strconv.Atoi(retryAfter)
	isShort := err == nil && twoDigits.MatchString(retryAfter) && seconds <= retryAfterSecondsMax
	return time.Duration(seconds) * time.Second, isShort
}
