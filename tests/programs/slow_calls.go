// One request among 60 is slow, for the reason that is given: its goroutine waits for 300 ms.
package main

import (
	"os"
	"sync"
	"time"
)

const slowRequest = 30
const delay = 300 * time.Millisecond

var answers int
var account sync.Mutex

//go:noinline
func parse(text string) int {
	sum := 0
	for _, letter := range text {
		sum = sum*31 + int(letter)
	}
	return sum
}

//go:noinline
func updateAccount(locked bool) {
	if locked {
		account.Lock()
		go func() {
			time.Sleep(delay)
			account.Unlock()
		}()
	}
	account.Lock()
	answers++
	account.Unlock()
}

//go:noinline
func waitForAnswer() {
	answer := make(chan int)
	go func() {
		time.Sleep(delay)
		answer <- 1
	}()
	answers += <-answer
}

//go:noinline
func backOff() {
	time.Sleep(delay)
}

//go:noinline
func askAll() {
	var asked sync.WaitGroup
	for i := 0; i < 3; i++ {
		asked.Add(1)
		go func() {
			time.Sleep(delay)
			asked.Done()
		}()
	}
	asked.Wait()
}

//go:noinline
func handleRequest(number int, reason string) {
	slow := number == slowRequest
	answers += parse("GET /index.html")
	switch {
	case reason == "updateAccount":
		updateAccount(slow)
	case slow && reason == "waitForAnswer":
		waitForAnswer()
	case slow && reason == "backOff":
		backOff()
	case slow && reason == "askAll":
		askAll()
	}
}

func main() {
	for number := 0; number < 60; number++ {
		handleRequest(number, os.Args[1])
	}
}
