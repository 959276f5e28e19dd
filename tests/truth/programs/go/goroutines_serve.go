// Goroutines that serve from the midst of their stacks for ever, in any thread.
// truth: ; -gcflags=-l
// truth-goal: 99.9 a goroutine that has been in another thread meanwhile may seem to have stayed where it was
package main

import (
	"fmt"
	"os"
	"runtime"
)

const (
	servers = 5
	asked   = 300
)

type question struct {
	number int
	answer chan<- int
}

//go:noinline
func square(number int) int {
	if number == 0 {
		return 0
	}
	return square(number-1) + 2*number - 1
}

//go:noinline
func serve(level int, questions <-chan question) {
	if level > 0 {
		serve(level-1, questions)
		return
	}
	for asked := range questions {
		asked.answer <- square(asked.number % 20)
	}
}

func main() {
	runtime.GOMAXPROCS(4)
	questions := make(chan question)
	for i := 0; i < servers; i++ {
		go serve(i*3, questions)
	}
	answers := make(chan int, 3)
	sum := 0
	for i := 0; i < asked; i += 3 {
		for j := 0; j < 3; j++ {
			questions <- question{i + j, answers}
		}
		for j := 0; j < 3; j++ {
			sum += <-answers
		}
	}
	fmt.Println("sum", sum)
	if sum != asked/20*2470 {
		os.Exit(1)
	}
}
