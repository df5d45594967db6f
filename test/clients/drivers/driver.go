// Makes the calls that its standard input asks for, one a line and form-encoded, and prints what comes of each as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"driver/onecode"
)

var client *onecode.Client

func run(given url.Values) (any, error) {
	ctx := context.Background()
	switch given.Get("call") {
	case "verify":
		return client.Verify(ctx, given.Get("sendId"), onecode.NormalizeCode(given.Get("code")))
	case "verifyLatest":
		var ids []string
		for _, id := range strings.Fields(given.Get("sendIds")) {
			ids = onecode.AddSendID(ids, id)
		}
		return client.VerifyLatest(ctx, ids, given.Get("code"))
	case "status":
		return client.Status(ctx, given.Get("sendId"))
	case "send":
		return client.Send(ctx, onecode.SendRequest{
			To: given.Get("to"), Code: given.Get("code"), Locale: given.Get("locale"), IdempotencyKey: given.Get("idempotencyKey"),
		})
	}
	timeoutMs, _ := strconv.Atoi(given.Get("timeoutMs"))
	maxRetries, _ := strconv.Atoi(given.Get("maxRetries"))
	timeout, hosts := time.Duration(timeoutMs)*time.Millisecond, strings.Fields(given.Get("testHosts"))
	made, err := onecode.New(given.Get("baseUrl"), given.Get("apiKey"), timeout, maxRetries, hosts...)
	if err == nil {
		client = made
		deadlineMs, _ := strconv.Atoi(given.Get("deadlineMs"))
		client.Deadline = time.Duration(deadlineMs) * time.Millisecond
	}
	return "made", err
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		given, _ := url.ParseQuery(lines.Text())
		result, err := run(given)
		answer := map[string]any{"type": fmt.Sprintf("%T", result), "value": result}
		if result == "made" {
			answer = map[string]any{"type": result}
		}
		if err != nil {
			shown := fmt.Sprintf("%v %+v %#v %+v", err, err, err, client)
			answer = map[string]any{"type": fmt.Sprintf("%T", err), "value": err, "shown": shown}
		}
		if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
			panic(err)
		}
	}
}
