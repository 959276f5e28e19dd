// select over channels, timers and a closing channel; the result depends on no time.
// truth: ; -gcflags=-l
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

//go:noinline
func work(depth int) int {
	if depth == 0 {
		return 0
	}
	return work(depth-1) + 1
}

func produce(count int, out chan<- int, done chan<- struct{}) {
	for i := 0; i < count; i++ {
		if i%20 == 0 {
			<-time.After(time.Millisecond)
		}
		out <- work(i % 10)
	}
	close(done)
}

func main() {
	runtime.GOMAXPROCS(1)
	numbers := make(chan int)
	done := make(chan struct{})
	ticks := time.NewTicker(500 * time.Microsecond)
	go produce(100, numbers, done)
	sum := 0
	for running := true; running; {
		select {
		case number := <-numbers:
			sum += number
		case <-ticks.C:
			work(5)
		case <-done:
			running = false
		}
	}
	ticks.Stop()
	fmt.Println("sum", sum)
	if sum != 450 {
		os.Exit(1)
	}
}
