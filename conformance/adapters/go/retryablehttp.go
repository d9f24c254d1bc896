// go-retryablehttp before one case: reads RAC_*, exits 0 for an answer, 1 for a refusal.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-retryablehttp"
)

// Set by the linker: a build outside a module does not know the version of what it was built from.
var version = "unknown"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("go-retryablehttp", version)
		return
	}
	client := retryablehttp.NewClient()
	client.RetryMax = 5
	client.Logger = nil
	var body interface{}
	if path := os.Getenv("RAC_BODY_FILE"); path != "" {
		bytes, err := os.ReadFile(path)
		if err != nil {
			fail(err)
		}
		body = bytes
	}
	request, err := retryablehttp.NewRequest(os.Getenv("RAC_METHOD"), os.Getenv("RAC_URL"), body)
	if err != nil {
		fail(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	answer, err := client.Do(request)
	if err != nil {
		fail(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		fail(err)
	}
	if answer.StatusCode >= 400 {
		fail(fmt.Errorf("status %d", answer.StatusCode))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
