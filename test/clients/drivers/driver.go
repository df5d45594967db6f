// Does what its standard input asks for with the client: a call a line, form-encoded, and so each answer.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"time"

	"driver/onecode"
)

var client *onecode.Client

func run(given, answer url.Values) error {
	ctx := context.Background()
	var send *onecode.Send
	var err error
	switch given.Get("call") {
	case "new":
		timeoutMs, _ := strconv.Atoi(given.Get("timeoutMs"))
		maxRetries, _ := strconv.Atoi(given.Get("maxRetries"))
		timeout := time.Duration(timeoutMs) * time.Millisecond
		made, err := onecode.New(given.Get("baseUrl"), given.Get("apiKey"), timeout, maxRetries)
		if err != nil {
			return err
		}
		client = made
		answer.Set("outcome", "made")
		return nil
	case "verify":
		result, err := client.Verify(ctx, given.Get("sendId"), given.Get("code"))
		if err != nil {
			return err
		}
		answer.Set("outcome", "judgement")
		answer.Set("valid", strconv.FormatBool(result.Valid))
		answer.Set("verification", result.Verification)
		answer.Set("attemptsLeft", strconv.Itoa(result.AttemptsLeft))
		return nil
	case "status":
		send, err = client.Status(ctx, given.Get("sendId"))
	case "send":
		send, err = client.Send(ctx, onecode.SendRequest{
			To: given.Get("to"), Code: given.Get("code"), Locale: given.Get("locale"), IdempotencyKey: given.Get("idempotencyKey"),
		})
	}
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"outcome": "send", "id": send.ID, "status": send.Status, "verification": send.Verification, "mode": send.Mode,
		"channel": send.Channel, "from": send.From, "failure_reason": send.FailureReason,
		"expires_at": strconv.FormatInt(send.ExpiresAt.UnixMilli(), 10),
	} {
		set(answer, name, value)
	}
	if send.SentAt != nil {
		answer.Set("sent_at", strconv.FormatInt(send.SentAt.UnixMilli(), 10))
	}
	return nil
}

func set(answer url.Values, name, value string) {
	if value != "" {
		answer.Set(name, value)
	}
}

func tell(err error, answer url.Values) {
	answer.Set("shown", fmt.Sprintf("%v %+v %#v %+v", err, err, err, client))
	var problem *onecode.ProblemError
	var connection *onecode.ConnectionError
	var unknown *onecode.IndeterminateVerificationError
	var facts onecode.Facts
	switch {
	case errors.As(err, &problem):
		facts = problem.Facts
		answer.Set("outcome", "problem")
		answer.Set("code", problem.Code)
		set(answer, "detail", problem.Detail)
		for name, text := range problem.Errors {
			answer.Set("errors."+name, text)
		}
	case errors.As(err, &connection):
		facts = connection.Facts
		answer.Set("outcome", "connection")
	case errors.As(err, &unknown):
		facts = unknown.Facts
		answer.Set("outcome", "indeterminate")
		answer.Set("sendId", unknown.SendID)
	default:
		answer.Set("outcome", "mistake")
	}
	if facts.Status != 0 {
		answer.Set("status", strconv.Itoa(facts.Status))
	}
	if facts.RetryAfter != nil {
		answer.Set("retryAfterSeconds", strconv.Itoa(int(facts.RetryAfter.Seconds())))
	}
	set(answer, "requestId", facts.RequestID)
	set(answer, "idempotencyKey", facts.IdempotencyKey)
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		given, err := url.ParseQuery(lines.Text())
		if err != nil {
			panic(err)
		}
		answer := url.Values{}
		if err := run(given, answer); err != nil {
			tell(err, answer)
		}
		fmt.Println(answer.Encode())
	}
}
